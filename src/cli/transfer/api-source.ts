import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { pause } from '../../util/pause.ts';
import { type ApiClient, ApiError, isPassing } from './api-client.ts';
import { listPages, textOf, withType } from './api-pages.ts';
import { type ApiResource, discover, pathOf } from './api-resources.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourceChange, SourcePart } from './source.ts';

interface ApiSourceParts {
  readonly client: ApiClient;
  readonly shapes: Shapes;
  readonly say: (line: string) => void;
}

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const AGAIN_MS = 1000;

/** An API server, read by lists and followed by watches. Each resource is read in the version that this server stores. */
export class ApiSource implements Source {
  readonly leftOut: string[] = [];
  readonly follow: (signal: AbortSignal) => AsyncGenerator<SourceChange>;
  readonly #parts: ApiSourceParts;
  /** Where the watch of each resource begins. */
  readonly #read = new Map<ApiResource, string>();
  /** uids by path and name, to find what was removed while a watch was away. */
  readonly #known = new Map<ApiResource, Map<string, JsonObject>>();

  constructor(parts: ApiSourceParts) {
    this.#parts = parts;
    this.follow = (signal) => this.#follow(signal);
  }

  async *read(): AsyncGenerator<SourcePart> {
    const { client, shapes, say } = this.#parts;
    const definitions = await this.#discover();
    for (const resource of definitions) yield* this.#list(resource);
    const { resources, leftOut } = await discover(client, (group, resource) =>
      shapes.storedVersionOf({ group, resource }),
    );
    this.leftOut.push(...leftOut);
    for (const resource of resources) {
      if (toQualifiedResource(resource) === DEFINITIONS) continue;
      if (shapes.keeps(resource)) yield* this.#list(resource);
      else this.leftOut.push(`${toQualifiedResource(resource)}: this server has no such resource`);
    }
    say(`read ${this.#read.size} resources of ${client.url}`);
  }

  covers(resource: GroupResource): boolean {
    const name = toQualifiedResource(resource);
    return [...this.#read.keys()].some((one) => toQualifiedResource(one) === name);
  }

  async close(): Promise<void> {
    this.#parts.client.close();
  }

  async #discover(): Promise<readonly ApiResource[]> {
    const { resources } = await discover(this.#parts.client);
    return resources.filter((one) => toQualifiedResource(one) === DEFINITIONS);
  }

  /** A list that is too old to go on begins again: what was taken is the same then. */
  async *#list(resource: ApiResource): AsyncGenerator<SourcePart> {
    for (;;) {
      const known = new Map<string, JsonObject>();
      try {
        let isFirst = true;
        for await (const { objects, remaining, resourceVersion } of listPages(
          this.#parts.client,
          resource,
          {},
        )) {
          for (const object of objects) known.set(placeOf(object), identityOf(object));
          this.#read.set(resource, resourceVersion);
          yield { label: resource.resource, objects, remaining: isFirst ? remaining : -1 };
          isFirst = false;
        }
        this.#known.set(resource, known);
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 410) throw error;
        this.#parts.say(`${resource.resource} are listed again: ${error.message}`);
      }
    }
  }

  /** Merges the watches of all resources. */
  async *#follow(signal: AbortSignal): AsyncGenerator<SourceChange> {
    const queue: SourceChange[] = [];
    let wake: () => void = () => {};
    let failure: unknown;
    const wakeUp = (): void => wake();
    signal.addEventListener('abort', wakeUp);
    const put = (change: SourceChange): void => {
      queue.push(change);
      wake();
    };
    for (const [resource, from] of this.#read)
      void this.#watch(resource, { from, put, signal }).catch((error: unknown) => {
        failure ??= error;
        wake();
      });
    while (!signal.aborted) {
      const change = queue.shift();
      if (change !== undefined) {
        yield change;
        continue;
      }
      if (failure !== undefined) throw failure;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (queue.length === 0) await promise;
    }
  }

  /** Watches again from where the last one ended, until the signal aborts. */
  async #watch(
    resource: ApiResource,
    { from, put, signal }: { from: string; put: (change: SourceChange) => void; signal: AbortSignal },
  ): Promise<void> {
    const known = this.#known.get(resource) ?? new Map<string, JsonObject>();
    let version = from;
    while (!signal.aborted) {
      try {
        version = await this.#watchOnce(resource, { version, known, put, signal });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.code === 410)
          version = await this.#compare(resource, known, put);
        else if (error instanceof ApiError && !isPassing(error)) throw error;
        else this.#parts.say(`${resource.resource} are watched again: ${errorText(error)}`);
      }
      await pause(AGAIN_MS, signal);
    }
  }

  /** Returns the version to go on from. @throws ApiError 410 */
  async #watchOnce(
    resource: ApiResource,
    of: {
      version: string;
      known: Map<string, JsonObject>;
      put: (change: SourceChange) => void;
      signal: AbortSignal;
    },
  ): Promise<string> {
    let { version } = of;
    const path = pathOf(resource);
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion=${version}`;
    for await (const { type, object } of this.#parts.client.lines(`${path}?${query}`, of.signal)) {
      if (!isObject(object)) continue;
      if (type === 'ERROR') throw new ApiError(path, Number(object.code ?? 0), textOf(object.message));
      const metadata = isObject(object.metadata) ? object.metadata : {};
      version = textOf(metadata.resourceVersion) || version;
      if (type === 'BOOKMARK') continue;
      const typed = withType(object, resource);
      const isRemoved = type === 'DELETED';
      if (isRemoved) of.known.delete(placeOf(typed));
      else of.known.set(placeOf(typed), identityOf(typed));
      of.put({ kind: isRemoved ? 'removed' : 'put', object: typed });
    }
    return version;
  }

  /** Lists anew after a watch that is too old, and removes what is not there any more. */
  async #compare(
    resource: ApiResource,
    known: Map<string, JsonObject>,
    put: (change: SourceChange) => void,
  ): Promise<string> {
    const gone = new Map(known);
    let version = '';
    for await (const { objects, resourceVersion } of listPages(this.#parts.client, resource, {})) {
      version = resourceVersion;
      for (const object of objects) {
        gone.delete(placeOf(object));
        known.set(placeOf(object), identityOf(object));
        put({ kind: 'put', object });
      }
    }
    for (const [place, object] of gone) {
      known.delete(place);
      put({ kind: 'removed', object: withType(object, resource) });
    }
    return version;
  }
}

function placeOf({ metadata }: JsonObject): string {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  return `${textOf(namespace)}/${textOf(name)}`;
}

/** What remains of an object to remove it by. */
function identityOf({ metadata }: JsonObject): JsonObject {
  const { namespace, name, uid } = isObject(metadata) ? metadata : {};
  return { metadata: { ...(namespace === undefined ? {} : { namespace }), name, uid } };
}
