//! Which addresses of the network are nobody else's business.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not the public network, as address, length of the prefix, and what they are.
const IPV4: [([u8; 4], u32, &str); 15] = [
    ([0, 0, 0, 0], 8, "an address of this network"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a carrier-grade NAT address"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    ([169, 254, 0, 0], 16, "a link-local address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "a documentation address"),
    ([192, 88, 99, 0], 24, "a reserved address"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "a benchmarking address"),
    ([198, 51, 100, 0], 24, "a documentation address"),
    ([203, 0, 113, 0], 24, "a documentation address"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// The same for IPv6. What lies outside `2000::/3` is not public at all.
const IPV6: [([u16; 2], u32, &str); 9] = [
    ([0xfc00, 0], 7, "a private address"),
    ([0xfe80, 0], 10, "a link-local address"),
    ([0xfec0, 0], 10, "a private address"),
    ([0xff00, 0], 8, "a multicast address"),
    ([0x2001, 0], 23, "a reserved or tunnelled address"),
    ([0x2001, 0x0db8], 32, "a documentation address"),
    ([0x2002, 0], 16, "a tunnelled address"),
    ([0x3fff, 0], 20, "a documentation address"),
    ([0x5f00, 0], 16, "a reserved address"),
];

/// The well-known prefix behind which translators put addresses of IPv4.
const TRANSLATED: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// Says what an address is when it is not one of the public network.
pub fn inner_address(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(address) => inner_v4(address),
        IpAddr::V6(address) => inner_v6(address),
    }
}

fn inner_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let range = IPV4.iter().find(|(network, length, _)| {
        let mask = u32::MAX << (32 - length);
        bits & mask == Ipv4Addr::from(*network).to_bits()
    });
    range.map(|(_, _, what)| *what)
}

fn inner_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    if segments[..6] == TRANSLATED {
        let [.., high, low] = segments;
        return inner_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    if address.is_loopback() {
        return Some("a loopback address");
    }
    let start = u32::from(segments[0]) << 16 | u32::from(segments[1]);
    let range = IPV6.iter().find(|([first, second], length, _)| {
        let network = u32::from(*first) << 16 | u32::from(*second);
        let mask = u32::MAX << (32 - length);
        start & mask == network
    });
    match range {
        Some((_, _, what)) => Some(what),
        None if segments[0] & 0xe000 == 0x2000 => None,
        None => Some("a reserved address"),
    }
}

/// Addresses that the user allows although they are not public.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedAddresses {
    ranges: Vec<(IpAddr, u32)>,
}

impl AllowedAddresses {
    /// Reads entries such as `10.1.2.3`, `10.0.0.0/8` and `::1`. What is none of these allows nothing.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        let ranges = entries.into_iter().filter_map(|entry| {
            let (address, length) = match entry.trim().split_once('/') {
                Some((address, length)) => (address, Some(length.parse().ok()?)),
                None => (entry.trim(), None),
            };
            let address: IpAddr = address.parse().ok()?;
            let whole = if address.is_ipv4() { 32 } else { 128 };
            let length = length.unwrap_or(whole);
            (length <= whole).then_some((address, length))
        });
        Self {
            ranges: ranges.collect(),
        }
    }

    /// Tells whether an address is allowed.
    pub fn allow(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.ranges
            .iter()
            .any(|(network, length)| match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let shift = 32 - length;
                    network.to_bits().checked_shr(shift).unwrap_or(0)
                        == address.to_bits().checked_shr(shift).unwrap_or(0)
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let shift = 128 - length;
                    network.to_bits().checked_shr(shift).unwrap_or(0)
                        == address.to_bits().checked_shr(shift).unwrap_or(0)
                }
                (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{AllowedAddresses, inner_address};
    use std::net::IpAddr;

    fn parse(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_not_public_is_named() {
        for inner in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "100::1",
            "4000::1",
        ] {
            assert!(inner_address(parse(inner)).is_some(), "{inner}");
        }
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert_eq!(inner_address(parse(public)), None, "{public}");
        }
    }

    #[test]
    fn only_what_is_listed_is_allowed() {
        let allowed = AllowedAddresses::new([
            "127.0.0.1",
            "10.0.0.0/8",
            " fd00::/8 ",
            "junk",
            "1.2.3.4/33",
            "0.0.0.0/x",
        ]);
        for yes in ["127.0.0.1", "::ffff:127.0.0.1", "10.255.0.1", "fd12::1"] {
            assert!(allowed.allow(parse(yes)), "{yes}");
        }
        for no in [
            "127.0.0.2",
            "11.0.0.1",
            "fe80::1",
            "1.2.3.4",
            "0.0.0.0",
            "::1",
        ] {
            assert!(!allowed.allow(parse(no)), "{no}");
        }
        assert!(AllowedAddresses::new(["0.0.0.0/0"]).allow(parse("127.0.0.1")));
    }
}
