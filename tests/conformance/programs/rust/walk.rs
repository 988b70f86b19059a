use std::io::Write;
use std::process::{exit, Command};
use std::time::Duration;

struct Inner {
    deep: i32,
}

struct Point {
    x: i32,
    inner: Inner,
}

fn twice(n: i32) -> i32 {
    let result = n * 2; // @computes
    std::hint::black_box(result) // @returns
}

fn lap() -> i32 {
    let mut total = 0; // @home
    // @moved
    let mut first = std::hint::black_box(0); // @bound
    let point = Point { x: 1, inner: Inner { deep: 42 } };
    let mut big = [0i32; 1000];
    for index in 0..1000 {
        big[index] = index as i32;
    }
    first += twice(1); let second = twice(first); // @columns
    for n in 0..10 {
        total += twice(n); // @calls
        println!("total {}", total); // @prints
    }
    eprintln!("warned");
    std::thread::sleep(Duration::from_millis(5)); // @done
    total + second + big[999] + point.x + point.inner.deep
}

fn walk() {
    loop {
        lap();
    }
}

fn once() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    println!("read {}", line.trim());
    let who = std::env::var("WHO").unwrap_or_default();
    println!("env {} cwd {}", who, std::env::current_dir().unwrap().display()); // @reads
    lap();
    exit(3);
}

fn risky(n: i32) -> i32 {
    if n > 2 {
        panic!("too large: {}", n); // @raises
    }
    n
}

fn fails() {
    println!("caught");
    std::io::stdout().flush().unwrap();
    risky(4); // @uncaught
}

fn work(number: i64) {
    let mut worked = 0;
    loop {
        worked += number; // @works
        std::thread::sleep(Duration::from_millis(std::hint::black_box(worked) as u64 * 0 + 10));
    }
}

fn threads() {
    std::thread::spawn(|| loop { std::thread::sleep(Duration::from_millis(10)) });
    std::thread::spawn(|| work(2)).join().unwrap();
}

fn child() {
    let born = Command::new(std::env::current_exe().unwrap()).arg("born").status().unwrap();
    println!("child {}", born.code().unwrap());
}

fn born() {
    let inner = twice(21); // @born
    println!("born {}", inner);
    exit(5);
}

extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
}

fn killed() {
    unsafe { kill(std::process::id() as i32, 9) };
}

fn main() {
    match std::env::args().nth(1).unwrap().as_str() {
        "walk" => walk(),
        "once" => once(),
        "fails" => fails(),
        "threads" => threads(),
        "child" => child(),
        "born" => born(),
        _ => killed(),
    }
}
