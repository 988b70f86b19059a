pub fn price(count: u32) -> u32 {
    let unit = 7;
    let total = count * unit;
    total
}

#[cfg(test)]
mod tests {
    use super::price;

    #[test]
    fn three_cost_twenty() {
        let count = 3;
        let total = price(count);
        assert_eq!(total, 20);
    }

    #[test]
    fn none_cost_nothing() {
        assert_eq!(price(0), 0);
    }
}
