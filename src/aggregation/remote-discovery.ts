import { toApiVersion } from '../api/names.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { isObject } from '../object/json-values.ts';

/**
 * Parses other servers' discovery, in either form, to the form of aggregated discovery. Keeps only known fields of the right
 * types, because clients trust them as this server's own.
 */

/** Resources by group and version. */
export type Discovered = ReadonlyMap<string, readonly JsonObject[]>;

/** Parses an APIGroupDiscoveryList. @throws Error */
export function readAggregated(text: string): Discovered {
  const { kind, items } = parse(text);
  if (kind !== 'APIGroupDiscoveryList') throw new Error(`its kind is ${JSON.stringify(kind)}`);
  const discovered = new Map<string, readonly JsonObject[]>();
  for (const item of objects(items)) {
    const group = asText(asObject(item.metadata).name);
    for (const { version, resources } of objects(item.versions))
      discovered.set(`${group}/${asText(version)}`, objects(resources).map(toResource));
  }
  return discovered;
}

/** Parses the APIResourceList of one group version. @throws Error */
export function readPlain(text: string, group: string, version: string): readonly JsonObject[] {
  const { kind, groupVersion, resources } = parse(text);
  if (kind !== 'APIResourceList') throw new Error(`its kind is ${JSON.stringify(kind)}`);
  const wanted = toApiVersion({ group, version });
  if (groupVersion !== wanted) throw new Error(`it is of ${JSON.stringify(groupVersion)}, not of ${wanted}`);
  const found = new Map<string, Found>();
  for (const one of objects(resources)) {
    const [name = '', subresource] = asText(one.name).split('/');
    const scope = one.namespaced === true ? 'Namespaced' : 'Cluster';
    const kindOf = {
      group: asText(one.group ?? group),
      version: asText(one.version ?? version),
      kind: asText(one.kind),
    };
    // A subresource may be listed without its resource, or before it.
    const entry: Found = found.get(name) ?? {
      resource: { resource: name, scope, responseKind: {} },
      subresources: [],
    };
    found.set(name, entry);
    const shown = { responseKind: kindOf, verbs: texts(one.verbs) };
    if (subresource !== undefined) entry.subresources.push({ subresource, ...shown });
    else
      Object.assign(entry.resource, {
        ...shown,
        singularResource: asText(one.singularName ?? ''),
        ...nicknames(one),
      });
  }
  return [...found.values()].map(withSubresources);
}

interface Found {
  readonly resource: JsonObject;
  readonly subresources: JsonObject[];
}

const withSubresources = ({ resource, subresources }: Found): JsonObject =>
  subresources.length === 0 ? resource : { ...resource, subresources };

function toResource(one: JsonObject): JsonObject {
  const subresources = objects(one.subresources ?? []).map((sub) => ({
    subresource: asText(sub.subresource),
    responseKind: toKind(sub.responseKind),
    verbs: texts(sub.verbs ?? []),
  }));
  return withSubresources({
    resource: {
      resource: asText(one.resource),
      responseKind: toKind(one.responseKind),
      ...(one.scope === 'Namespaced' || one.scope === 'Cluster' ? { scope: one.scope } : {}),
      singularResource: asText(one.singularResource ?? ''),
      verbs: texts(one.verbs ?? []),
      ...nicknames(one),
    },
    subresources,
  });
}

function toKind(value: JsonValue | undefined): JsonObject {
  const { group = '', version = '', kind = '' } = asObject(value ?? {});
  return { group: asText(group), version: asText(version), kind: asText(kind) };
}

const nicknames = ({ shortNames, categories }: JsonObject): JsonObject => ({
  ...(shortNames === undefined ? {} : { shortNames: texts(shortNames) }),
  ...(categories === undefined ? {} : { categories: texts(categories) }),
});

export function parse(text: string): JsonObject {
  const value: JsonValue = JSON.parse(text);
  return asObject(value);
}

function asObject(value: JsonValue | undefined): JsonObject {
  if (isObject(value)) return value;
  throw new Error('it has something else where an object belongs');
}

function objects(value: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(value)) throw new Error('it has something else where a list belongs');
  return value.map(asObject);
}

function asText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error('it has something else where a text belongs');
}

function texts(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) throw new Error('it has something else where a list belongs');
  return value.map(asText);
}
