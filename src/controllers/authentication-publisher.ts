import { CONFIG_MAPS } from '../api/known-resources.ts';
import type { ConfigMap } from '../api/types/core/v1.ts';
import type { Client } from '../verbs/client/client.ts';
import { certificatesIn, toPem } from '../x509/pem.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

/** The data by which servers behind this one verify its requests, for a config map. */
export interface PublishedAuthentication {
  /** Bundles of certificates in PEM form, by key. */
  readonly bundles: Readonly<Record<string, string>>;
  /** Lists, by key. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * Maintains kube-system/extension-apiserver-authentication, from which API servers behind the aggregator learn which certificates
 * and headers to trust. Servers of one cluster may have authorities of their own, and each adds its own to the existing ones.
 * @throws StatusError, StorageError
 */
export async function publishAuthentication(
  client: Client,
  published: PublishedAuthentication,
): Promise<void> {
  const merge = (map: ConfigMap): ConfigMap => ({ ...map, data: mergeData(map.data, published) });
  const metadata = { name: NAME, namespace: NAMESPACE };
  await client.ensure(CONFIG_MAPS, merge({ kind: 'ConfigMap', apiVersion: 'v1', metadata }), { mend: merge });
}

function mergeData(
  data: ConfigMap['data'] = {},
  { bundles, lists }: PublishedAuthentication,
): Record<string, string> {
  const merged = new Map(Object.entries(data));
  const before = (key: string): string => data[key] ?? '';
  for (const [key, bundle] of Object.entries(bundles)) merged.set(key, mergeBundles(before(key), bundle));
  for (const [key, list] of Object.entries(lists)) merged.set(key, mergeLists(before(key), list));
  return Object.fromEntries(merged);
}

function mergeBundles(some: string, others: string): string {
  const blocks = [some, others].flatMap((text) =>
    certificatesIn(text).map((der) => toPem('CERTIFICATE', der)),
  );
  return [...new Set(blocks)].join('');
}

const mergeLists = (text: string, list: readonly string[]): string =>
  JSON.stringify([...new Set([...parseList(text), ...list])]);

function parseList(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}
