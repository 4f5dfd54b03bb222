import type { JsonObject } from '../api/object-meta.ts';
import { isObject } from '../object/json-values.ts';
import type { RemoteApi, RemoteApis, RemoteContents } from '../registry/remote-apis.ts';
import { errorText } from '../util/error-text.ts';
import type { RemoteVersion } from './managed-api-services.ts';
import { parse } from './remote-discovery.ts';
import { type Fetched, type FetchParts, fetchRemote } from './remote-fetch.ts';
import type { RemoteVersions } from './remote-versions.ts';

interface RemoteNamespacesParts extends FetchParts {
  readonly remote: Pick<RemoteVersions, 'isEmpty' | 'find'>;
  readonly documents: Pick<RemoteApis, 'all'>;
}

const LIMITS = { bytes: 16 * 1024 * 1024, ms: 30_000 };

/**
 * Deletes other servers' objects in namespaces (Kubernetes: pkg/controller/namespace/deletion). For a group with several
 * versions of the same objects, uses the first one.
 */
export class RemoteNamespaces implements RemoteContents {
  readonly #parts: RemoteNamespacesParts;

  constructor(parts: RemoteNamespacesParts) {
    this.#parts = parts;
  }

  async empty(namespace: string, signal: AbortSignal): Promise<{ left: number; unknown: string[] }> {
    const result: { left: number; unknown: string[] } = { left: 0, unknown: [] };
    if (this.#parts.remote.isEmpty) return result;
    const apis = this.#parts.documents.all().toSorted((a, b) => b.versionPriority - a.versionPriority);
    const asked = new Set<string>();
    await Promise.all(
      apis.map(async (api) => {
        const { group, version, resources, isFresh } = api;
        const name = `${group}/${version}`;
        if (!isFresh) return void result.unknown.push(`${name}: stale GroupVersion discovery: ${name}`);
        const own = resources.filter(isDeletable).filter(({ resource }) => {
          const key = `${group}/${String(resource)}`;
          return !asked.has(key) && asked.add(key);
        });
        try {
          for (const resource of own)
            result.left += await this.#emptyResource(api, resource, { namespace, signal });
        } catch (error) {
          result.unknown.push(`${name}: ${errorText(error)}`);
        }
      }),
    );
    return result;
  }

  async #emptyResource(
    { group, version }: RemoteApi,
    { resource, verbs }: JsonObject,
    { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
  ): Promise<number> {
    const found = this.#parts.remote.find(group, version);
    if (found === undefined) return 0;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${String(resource)}`;
    const ask = (method: 'GET' | 'DELETE', at: string): Promise<Fetched> =>
      this.#ask(found, method, at, signal);
    const can = (verb: string): boolean => Array.isArray(verbs) && verbs.includes(verb);
    if (can('deletecollection')) await ask('DELETE', path);
    if (!can('list')) return 0;
    const names = namesIn((await ask('GET', path)).text);
    if (can('deletecollection')) return names.length;
    for (const name of names) await ask('DELETE', `${path}/${name}`);
    return namesIn((await ask('GET', path)).text).length;
  }

  /** @throws Error for an answer that is neither success nor not found */
  async #ask(
    one: RemoteVersion,
    method: 'GET' | 'DELETE',
    path: string,
    signal: AbortSignal,
  ): Promise<Fetched> {
    const wanted = { method, path, accept: 'application/json', etag: '', limits: LIMITS, signal };
    const answer = await fetchRemote(this.#parts, one, wanted);
    if (answer.code < 400 || answer.code === 404) return answer;
    throw new Error(`${method} ${path} was answered with ${answer.code}`);
  }
}

const isDeletable = ({ scope, verbs }: JsonObject): boolean =>
  scope === 'Namespaced' && Array.isArray(verbs) && verbs.includes('delete');

/** Empty if there are none. */
function namesIn(list: string): string[] {
  const { items } = parse(list);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => {
    const { name } = isObject(item) && isObject(item.metadata) ? item.metadata : {};
    return typeof name === 'string' ? [name] : [];
  });
}
