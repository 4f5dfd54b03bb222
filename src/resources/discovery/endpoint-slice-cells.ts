import type { ApiObject } from '../../api/object-meta.ts';
import { parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age } from '../cells.ts';
import { strings } from '../validation/values.ts';

const SHOWN = 3;

export function endpointSliceCells(slice: ApiObject, now: number): readonly Cell[] {
  // A slice without a port is for every port.
  const ports = parts(slice, 'ports').map(({ name, port }) => String(port ?? name ?? '*'));
  const addresses = parts(slice, 'endpoints').flatMap((endpoint) => strings(endpoint, 'addresses'));
  return [
    slice.metadata.name ?? '',
    text(slice.addressType),
    firstOf(ports),
    firstOf(addresses),
    age(slice, now),
  ];
}

function firstOf(all: readonly string[]): string {
  const shown = all.slice(0, SHOWN).join(',');
  return all.length > SHOWN ? `${shown} + ${all.length - SHOWN} more...` : text(shown, '<unset>');
}
