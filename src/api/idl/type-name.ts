import { table } from '../../util/text-table.ts';
import type { TypeLibrary } from './types.ts';

/** Groups whose types the IDL does not keep under the first label of their name. */
const FOLDERS: Readonly<Record<string, string>> = table({ '': 'core', internal: 'apiserverinternal' });

/** `apps/v1`, `Deployment` → `apps/v1.Deployment`. The group is the canonical one. Undefined when no type has that name. */
export function typeName(apiVersion: string, kind: string, types: TypeLibrary): string | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const [label = ''] = group.split('.', 1);
  return [`${FOLDERS[label] ?? label}/${version}.${kind}`, `meta/v1.${kind}`].find((name) => types.has(name));
}
