import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { isObject } from '../object/json-values.ts';
import type { RemoteDocument } from '../registry/remote-apis.ts';
import type { RemoteVersion } from './managed-api-services.ts';
import { parse } from './remote-discovery.ts';

/** Extracts the parts of other servers' OpenAPI documents about their group versions. */

type GroupVersion = Pick<RemoteVersion, 'group' | 'version'>;

const pathOf = ({ group, version }: GroupVersion): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** Reads URLs by path from an index (v3). Drops other paths, and URLs that lead elsewhere. @throws Error */
export function readIndex(text: string, versions: readonly GroupVersion[]): Map<string, string> {
  const { paths } = parse(text);
  const listed = isObject(paths) ? paths : {};
  const urls = new Map<string, string>();
  for (const path of versions.map(pathOf)) {
    const entry = listed[path];
    if (!isObject(entry)) continue;
    const { serverRelativeURL: url } = entry;
    const own = `/openapi/v3/${path}`;
    urls.set(path, typeof url === 'string' && url.startsWith(`${own}?`) ? url : own);
  }
  return urls;
}

/** Limits what each later answer of this server contains. */
const MAX_KEPT = 2 * 1024 * 1024;
const REFERENCE = '#/definitions/';

/** Reads a whole document (v2). @throws Error */
export function readDocument(text: string, versions: readonly GroupVersion[]): RemoteDocument {
  const { paths, definitions, parameters } = parse(text);
  const roots = versions.map((one) => `/${pathOf(one)}`);
  const own = Object.entries(isObject(paths) ? paths : {}).filter(
    ([path, item]) => isObject(item) && roots.some((root) => path === root || path.startsWith(`${root}/`)),
  );
  const known = isObject(parameters) ? parameters : {};
  const kept = { paths: withParameters(Object.fromEntries(own), known), definitions: {} };
  kept.definitions = reachable(kept.paths, isObject(definitions) ? definitions : {});
  const written = JSON.stringify(kept);
  if (written.length > MAX_KEPT) throw new Error(`its part for us has more than ${MAX_KEPT} characters`);
  return { ...kept, etag: createHash('sha256').update(written).digest('hex') };
}

const PARAMETER = '#/parameters/';

/** Inlines shared parameters, to which the paths refer. */
function withParameters(paths: JsonObject, parameters: JsonObject): JsonObject {
  const resolve = (one: JsonValue): JsonValue => {
    const reference = isObject(one) ? one.$ref : undefined;
    if (typeof reference !== 'string' || !reference.startsWith(PARAMETER)) return one;
    const name = reference.slice(PARAMETER.length);
    return (Object.hasOwn(parameters, name) ? parameters[name] : undefined) ?? one;
  };
  const ofPart = (part: JsonValue | undefined): JsonValue | undefined =>
    isObject(part) && Array.isArray(part.parameters)
      ? { ...part, parameters: part.parameters.map(resolve) }
      : part;
  const ofItem = (item: JsonValue | undefined): JsonValue | undefined => {
    if (!isObject(item)) return item;
    const parts = Object.entries(item).map(([name, part]) => [name, ofPart(part)]);
    return ofPart(Object.fromEntries(parts));
  };
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, ofItem(item)]));
}

/** The definitions that the paths refer to, directly or not. */
function reachable(paths: JsonObject, definitions: JsonObject): JsonObject {
  const found = new Map<string, JsonObject>();
  const waiting: (JsonValue | undefined)[] = [paths];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      waiting.push(inner);
      if (key !== '$ref' || typeof inner !== 'string' || !inner.startsWith(REFERENCE)) continue;
      const name = inner.slice(REFERENCE.length);
      const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (!isObject(definition) || found.has(name)) continue;
      found.set(name, definition);
      waiting.push(definition);
    }
  }
  return Object.fromEntries(found);
}
