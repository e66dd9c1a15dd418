// SPDX-License-Identifier: BSD-3-Clause
//! The same happens each time: to the nanosecond, in each scenario, with each seed.

fn scenario(name: &str) -> String {
    format!("{}/../../../configs/{name}.weir", env!("CARGO_MANIFEST_DIR"))
}

fn seeds() -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn repeats(name: &str, bytes: usize) {
    let mut logs = std::collections::BTreeSet::new();
    for seed in 1..=seeds() {
        let [one, two] =
            [1, 2].map(|_| weir_quinn::transfer(&scenario(name), seed, bytes).unwrap());
        assert!(one.log == two.log, "{name}: seed {seed} gives two logs");
        assert!(one.log.lines().count() > 2 * bytes / 1500);
        println!("{name} seed {seed}: {:.0} bit/s, {:?}", one.goodput_bps, one.took);
        logs.insert(one.log);
    }
    assert_eq!(logs.len() as u64, seeds());
}

#[test]
fn lte_driving_is_the_same_each_time() {
    repeats("lte-driving", 2_000_000);
}

#[test]
fn geo_satellite_is_the_same_each_time() {
    repeats("geo-satellite", 2_000_000);
}

#[test]
fn home_router_is_the_same_each_time() {
    repeats("home-router", 2_000_000);
}

#[test]
fn bad_dsl_is_the_same_each_time() {
    repeats("bad-dsl", 2_000_000);
}
