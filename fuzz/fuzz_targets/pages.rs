#![no_main]

libfuzzer_sys::fuzz_target!(
    init: supple_fuzz::start(),
    |data: &[u8]| supple_fuzz::pictures::pages(data)
);
