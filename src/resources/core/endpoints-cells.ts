import type { ApiObject } from '../../api/object-meta.ts';
import { parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE } from '../cells.ts';

const SHOWN = 3;

export function endpointsCells(endpoints: ApiObject, now: number): readonly Cell[] {
  const all = parts(endpoints, 'subsets').flatMap((subset) => {
    const ports = parts(subset, 'ports');
    const addresses = parts(subset, 'addresses').map(({ ip }) => text(ip));
    return ports.length === 0
      ? addresses
      : ports.flatMap(({ port }) => addresses.map((ip) => toHostPort(ip, text(port))));
  });
  const more = all.length > SHOWN ? ` + ${all.length - SHOWN} more...` : '';
  return [
    endpoints.metadata.name ?? '',
    text(all.slice(0, SHOWN).join(',') + more, NONE),
    age(endpoints, now),
  ];
}

const toHostPort = (ip: string, port: string): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
