import { stringify } from 'yaml';
import type { Representation } from './negotiate.ts';

/** Any value in the representation's format. Lines end as Kubernetes ends them. */
export function encodeValue(
  value: unknown,
  { format, pretty }: Pick<Representation, 'format' | 'pretty'>,
): Buffer {
  if (format === 'yaml') return Buffer.from(stringify(value, { sortMapEntries: true, lineWidth: 0 }));
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : `${JSON.stringify(value)}\n`);
}
