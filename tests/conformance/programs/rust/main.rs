use std::io::Read;

fn twice(n: i32) -> i32 {
    let result = n * 2;
    std::hint::black_box(result)
}

fn main() {
    let mut total = 0;
    if std::env::args().count() > 1 {
        let mut line = String::new();
        std::io::stdin().read_to_string(&mut line).unwrap();
        println!("read {}", line.trim());
    }
    for n in 0..10 {
        total += twice(n);
        println!("total {}", total);
    }
    std::process::exit(if total == 90 { 3 } else { 4 });
}
