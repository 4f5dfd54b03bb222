import { BlockList, isIP } from 'node:net';

/** Addresses that proxies may not reach, because they mean this server itself, or no host in particular. */
const LOCAL = new BlockList();
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL.addSubnet('224.0.0.0', 4, 'ipv4');
LOCAL.addAddress('0.0.0.0', 'ipv4');
LOCAL.addAddress('255.255.255.255', 'ipv4');
LOCAL.addAddress('::', 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');
LOCAL.addSubnet('ff00::', 8, 'ipv6');

export const isLoopback = (address: string): boolean => isIn(LOOPBACK, address);

/** An address with a zone means a link of this machine. */
export const isGlobalUnicast = (address: string): boolean =>
  isIP(address) !== 0 && !address.includes('%') && !isIn(LOCAL, address) && !isIn(LOOPBACK, address);

const isIn = (list: BlockList, address: string): boolean =>
  isIP(address) !== 0 && !address.includes('%') && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
