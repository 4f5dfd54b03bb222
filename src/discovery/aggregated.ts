import { type Dialect, dialectGroup } from '../api/dialect.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import type { RemoteApi, RemoteApis } from '../registry/remote-apis.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { hash } from './hash.ts';
import type { Document } from './openapi.ts';
import { type ListedGroup, nicknamesOf, subresourcesOf, verbsOf } from './resource-lists.ts';

/**
 * apidiscovery.k8s.io: everything in one document, which every client requests when it starts. It is put together from parts, one
 * for each group, so that a change of one definition costs little beside a thousand others. Both versions have the same items.
 */
export class AggregatedDiscovery {
  readonly #registry: Registry;
  readonly #remote: RemoteApis;
  /** Canonical groups of other servers, as far as parts were made of them. */
  #elsewhere: ReadonlySet<string> = new Set();
  /** By name. */
  readonly #parts = new Map<string, Part>();
  readonly #documents = new Map<string, Document>();

  readonly #noTime: { readonly creationTimestamp?: null };

  /** `writesZeroTimes`: the time of creation that groups lack is null; else it is left out. */
  constructor(registry: Registry, remote: RemoteApis, writesZeroTimes: boolean) {
    this.#noTime = writesZeroTimes ? { creationTimestamp: null } : {};
    this.#registry = registry;
    this.#remote = remote;
    registry.onChange(({ groups }) => this.#forget(groups));
    remote.onChange(() => {
      this.#forget(this.#elsewhere);
      this.#elsewhere = new Set(remote.all().map(({ group }) => group));
      this.#forget(this.#elsewhere);
    });
  }

  #forget(groups: ReadonlySet<string>): void {
    for (const [name, { group }] of this.#parts) if (groups.has(group)) this.#parts.delete(name);
    this.#documents.clear();
  }

  /** `name` identifies the list of groups. */
  document(apiVersion: string, name: string, groups: () => readonly ListedGroup[]): Document {
    const key = `${apiVersion} ${name}`;
    return getOrAdd(this.#documents, key, () =>
      join(
        apiVersion,
        groups().map((group) => this.#part(group)),
      ),
    );
  }

  #part(group: ListedGroup): Part {
    const name = `${group.name} ${group.primary} ${group.versions.join()}`;
    let part = this.#parts.get(name);
    if (part === undefined) {
      const bytes = Buffer.from(JSON.stringify(this.#toItem(group)));
      part = { group: group.group, bytes, etag: hash([bytes]) };
      this.#parts.set(name, part);
    }
    return part;
  }

  #toItem({ group, dialect, name, versions, primary }: ListedGroup): JsonObject {
    const remote = this.#remote.all().filter((one) => one.group === group);
    return {
      metadata: { ...(name === '' ? {} : { name }), ...this.#noTime },
      versions: versions.map((version) => {
        const elsewhere = remote.find((one) => one.version === version);
        if (elsewhere !== undefined) return toRemoteVersion(elsewhere);
        const resources = this.#registry
          .resources(group, version)
          .map((served) => toResource(served, version, { dialect, primary }));
        return { version, resources, freshness: 'Current' };
      }),
    };
  }
}

const toRemoteVersion = ({ version, resources, isFresh }: RemoteApi): JsonObject => ({
  version,
  ...(resources.length === 0 ? {} : { resources: [...resources] }),
  freshness: isFresh ? 'Current' : 'Stale',
});

interface Part extends Document {
  /** Canonical. */
  readonly group: string;
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

function join(apiVersion: string, parts: readonly Part[]): Document {
  const list = { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: [] };
  const head = Buffer.from(JSON.stringify(list).slice(0, -END.length));
  const items = parts.flatMap(({ bytes }, at) => (at === 0 ? [bytes] : [COMMA, bytes]));
  return {
    bytes: Buffer.concat([head, ...items, END]),
    etag: hash([head, ...parts.map(({ etag }) => etag)]),
  };
}

function toResource(
  { definition }: ServedResource,
  version: string,
  { dialect, primary }: { readonly dialect: Dialect; readonly primary: boolean },
): JsonObject {
  const { resource, singular, namespaced, kind, subresources } = definition;
  return {
    resource,
    responseKind: { group: dialectGroup(definition.group, dialect), version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(definition),
    ...(primary ? nicknamesOf(definition) : {}),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresourcesOf(definition).map(({ name, served, verbs }) => ({
            subresource: name,
            responseKind: {
              ...served,
              group: dialectGroup(served.group, dialect),
              ...(served.group === definition.group ? { version } : {}),
            },
            verbs: [...verbs],
          })),
        }),
  };
}
