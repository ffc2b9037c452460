//! Tells public addresses from those that only machines of some network reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that are not public: a first address, and the number of bits that all of them have in common.
///
/// These are the blocks of the [registry of IANA](https://www.iana.org/assignments/iana-ipv4-special-registry) that only
/// some networks reach or that reach the nearest of many machines, multicast, and an address that Azure has given a purpose.
const INTERNAL_V4: [(Ipv4Addr, u32); 18] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),        // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // shared by customers of a provider; metadata of Alibaba
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // this machine
    (Ipv4Addr::new(168, 63, 129, 16), 32), // services of Azure for its machines
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local; metadata of clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // protocols; metadata of Oracle
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // documentation
    (Ipv4Addr::new(192, 31, 196, 0), 24),  // the nearest AS112
    (Ipv4Addr::new(192, 52, 193, 0), 24),  // the nearest relay of multicast
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // the nearest relay of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // private
    (Ipv4Addr::new(192, 175, 48, 0), 24),  // the nearest AS112
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 3),      // multicast, reserved, broadcast
];

/// All unicast addresses that were ever assigned to be public. Outside are loopback, unique local and link-local addresses,
/// multicast, and addresses for discarded packets and segments.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The addresses within [`GLOBAL_V6`] that are not public, as
/// [the registry](https://www.iana.org/assignments/iana-ipv6-special-registry) has them.
const INTERNAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocols, benchmarks, identifiers
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48), // the nearest AS112
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Whether an address is not public: of this machine, a private network, a link, or of no machine.
pub(crate) fn is_internal(address: IpAddr) -> bool {
    let v6 = match address {
        IpAddr::V4(v4) => return is_internal_v4(v4),
        IpAddr::V6(v6) => v6,
    };
    let embedded = embedded(v6);
    if !embedded.is_empty() {
        return embedded.into_iter().any(is_internal_v4);
    }
    let is_in = |(first, bits): (Ipv6Addr, u32)| (v6.to_bits() ^ first.to_bits()).leading_zeros() >= bits;
    !is_in(GLOBAL_V6) || INTERNAL_V6.into_iter().any(is_in)
}

fn is_internal_v4(v4: Ipv4Addr) -> bool {
    INTERNAL_V4.into_iter().any(|(first, bits)| (v4.to_bits() ^ first.to_bits()).leading_zeros() >= bits)
}

/// Returns the addresses of version 4 to which packets for `v6` are sent.
fn embedded(v6: Ipv6Addr) -> Vec<Ipv4Addr> {
    let two = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match v6.segments() {
        // Mapped; translated by the gateway of a network that has version 6 alone.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => vec![two(high, low)],
        // 6to4.
        [0x2002, high, low, ..] => vec![two(high, low)],
        // Teredo: the server, and the client with all bits inverted.
        [0x2001, 0, high, low, _, _, to_high, to_low] => vec![two(high, low), two(!to_high, !to_low)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last address of each block, and their public neighbours.
    #[test]
    fn addresses_of_special_purposes_are_internal() {
        let internal = [
            "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 100.100.100.200",
            "127.0.0.1 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.255.255",
            "172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.1",
            "192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1",
            "224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255",
            ":: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:8.8.8.8",
            "64:ff9b::127.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8 64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
            "100::1 100:0:0:1::1 2001::1 2001:1::1 2001:2::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1",
            // 6to4 of 10.0.0.1. Teredo with the server 10.0.0.1, and with the client 127.0.0.1.
            "2002:a00:1::1 2001:0:a00:1::f7f7:f7f7 2001:0:808:808::80ff:fffe",
            "2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1",
            "fc00::1 fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1",
        ];
        let public = [
            "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15",
            "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0",
            "192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255",
            "93.184.215.14 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2000::1 2001:200::1 2001:db7::1 2001:db9::1",
            "2002:808:808::1 2001:0:808:808::f7f7:f7f7 2003::1 2606:2800::1 2620:4f:8001::1 3ffe::1",
        ];
        let all = |lines: &[&str]| lines.join(" ").split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (addresses, expected) in [(all(&internal), true), (all(&public), false)] {
            for address in addresses {
                assert_eq!(is_internal(address.parse().unwrap()), expected, "{address}");
            }
        }
    }
}
