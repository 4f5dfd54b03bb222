import { BlockList, isIP } from 'node:net';

/** Addresses that nothing may be reached at through a proxy, for they mean this server itself, or nobody in particular. */
const LOCAL = new BlockList();
LOCAL.addSubnet('127.0.0.0', 8, 'ipv4');
LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL.addSubnet('224.0.0.0', 4, 'ipv4');
LOCAL.addAddress('0.0.0.0', 'ipv4');
LOCAL.addAddress('255.255.255.255', 'ipv4');
LOCAL.addAddress('::', 'ipv6');
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');
LOCAL.addSubnet('ff00::', 8, 'ipv6');

export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  return !LOCAL.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
