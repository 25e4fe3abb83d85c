import { describe, expect, it } from "vitest";
import { isPrivateAddress, isPrivateHost } from "./private-address.ts";

const hostOf = (url: string) => new URL(url).hostname;

describe("addresses that a webhook must not reach", () => {
  it.each([
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
    ...["172.16.0.1", "172.31.255.255", "192.0.0.8", "192.168.1.1", "198.18.0.1", "203.0.113.9"],
    ...["224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"],
    // They carry an IPv4 address: mapped, compatible, translated, 6to4, Teredo.
    ...["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:a9fe:a9fe", "::127.0.0.1"],
    ...["64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::"],
    ...["", "not an address", "127.0.0.1.nip.io"],
  ])("%s is private", (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])(
    "%s is public",
    (address) => {
      expect(isPrivateAddress(address)).toBe(false);
    },
  );

  it.each([
    ...["http://127.0.0.1", "http://127.1", "http://0x7f000001", "http://2130706433"],
    ...["http://017700000001", "http://0", "http://[::1]", "http://[::ffff:127.0.0.1]"],
    ...["http://[0:0:0:0:0:ffff:7f00:1]", "http://169.254.169.254/latest/meta-data"],
    ...["http://①②⑦.0.0.1", "http://localhost", "http://LOCALHOST.", "http://db.localhost"],
    ...[
      "http://metadata.google.internal",
      "http://printer.local",
      "http://router",
      "http://nas.lan",
    ],
  ])("%s leads inside, however it is written", (url) => {
    expect(isPrivateHost(hostOf(url))).toBe(true);
  });

  it.each(["https://hooks.example.com", "https://8.8.8.8", "https://localhost.example.com"])(
    "%s leads outside",
    (url) => {
      expect(isPrivateHost(hostOf(url))).toBe(false);
    },
  );
});
