import type { ApiObject } from '../../api/object-meta.ts';
import { checkName } from '../../object/formats.ts';

/** Names with dots are allowed, but pods take them over, and their host names cannot. Only worth saying once. */
export function podNameWarnings({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const reasons = old === undefined ? checkName(metadata.name ?? '', 'dns-label') : [];
  if (reasons.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${reasons.join(' ')}]`,
  ];
}
