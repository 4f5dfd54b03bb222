import { parseIp } from '../object/ip.ts';
import type { ApiRequest } from '../request/api-request.ts';

/**
 * Where a request says it came from, then where it did: X-Forwarded-For, X-Real-Ip, the peer's address. All but the last can
 * be made up by the client (Kubernetes: apimachinery, util/net, SourceIPs).
 */
export function sourceAddresses({
  headers,
  sourceAddress,
}: Pick<ApiRequest, 'headers' | 'sourceAddress'>): string[] {
  const found = toText(headers['x-forwarded-for']).split(',').flatMap(readAddress);
  for (const address of readAddress(toText(headers['x-real-ip']))) {
    if (!found.includes(address)) found.push(address);
  }
  for (const address of readAddress(sourceAddress)) if (found.at(-1) !== address) found.push(address);
  return found;
}

const toText = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? header.join(',') : (header ?? '');

/** None for what is no address. A peer with IPv4 on an IPv6 socket is shown as what it is. */
function readAddress(text: string): string[] {
  const trimmed = text.trim();
  const address = parseIp(trimmed);
  if (address === undefined) return [];
  return [address.family === 4 ? address.bytes.join('.') : trimmed.toLowerCase()];
}
