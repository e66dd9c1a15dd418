// SPDX-License-Identifier: BSD-3-Clause
//! Prints the goodput of a transfer, and its log: `transfer SCENARIO SEED BYTES [--log]`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, seed, bytes, more @ ..] = words.as_slice() else {
        return Err("usage: transfer SCENARIO SEED BYTES [--log]".into());
    };
    let done = weir_quinn::transfer(scenario, seed.parse()?, bytes.parse()?)?;
    println!("{:.0} bit/s, {:?} of virtual time", done.goodput_bps, done.took);
    if !more.is_empty() {
        print!("{}", done.log);
    }
    Ok(())
}
