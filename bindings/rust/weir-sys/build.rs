// SPDX-License-Identifier: BSD-3-Clause
//! Finds libweir: the file `$WEIR_LIBRARY`, or what pkg-config says, or what the linker finds.
use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process::Command};

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-env-changed=WEIR_LIBRARY");
    println!("cargo:rustc-link-lib=dylib=weir");
    if let Some(file) = env::var_os("WEIR_LIBRARY").filter(|file| !file.is_empty()) {
        // Programs that cargo runs find libraries that are in its own folder.
        let (file, own) = (fs::canonicalize(file)?, PathBuf::from(env::var_os("OUT_DIR").unwrap()));
        for name in ["libweir.so", "libweir.so.0"] {
            let _ = fs::remove_file(own.join(name));
            symlink(&file, own.join(name))?;
        }
        println!("cargo:rustc-link-search=native={}", own.display());
    } else if let Ok(said) = Command::new("pkg-config").args(["--libs-only-L", "weir"]).output() {
        for word in String::from_utf8_lossy(&said.stdout).split_whitespace() {
            println!("cargo:rustc-link-search=native={}", word.trim_start_matches("-L"));
        }
    }
    Ok(())
}
