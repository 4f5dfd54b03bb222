import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { type AlsoRun, runTogether } from '../../util/concurrency.ts';
import { Rest } from '../../util/pause.ts';
import type { ApiClient } from './api-client.ts';
import { type ApiResource, discover } from './api-resources.ts';
import { ChangeQueue } from './change-queue.ts';
import { FollowedResource } from './followed-resource.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourceChange, SourcePart, Unread } from './source.ts';

interface ApiSourceParts {
  readonly client: ApiClient;
  readonly shapes: Shapes;
  readonly say: (line: string) => void;
}

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
/** New definitions are looked for when a definition has changed, and in case that was too early. */
const DISCOVERY = { leastMs: 1000, mostMs: 60_000 };

/** An API server, read by lists and followed by watches. Each resource is read in the version that this server stores. */
export class ApiSource implements Source {
  readonly isPartial = false;
  readonly unread: readonly Unread[] = [];
  readonly leftOut: string[] = [];
  readonly follow: (cutOver: AbortSignal) => AsyncGenerator<SourceChange>;
  readonly #parts: ApiSourceParts;
  /** By qualified name, in the order of writes. */
  readonly #followed = new Map<string, FollowedResource>();
  readonly #untilDiscovery = new Rest();

  constructor(parts: ApiSourceParts) {
    this.#parts = parts;
    this.follow = (cutOver) => this.#follow(cutOver);
  }

  async *read(): AsyncGenerator<SourcePart<JsonObject>> {
    const { client, say } = this.#parts;
    const { resources, leftOut } = await discover(client);
    this.leftOut.push(...leftOut);
    for (const resource of resources)
      if (toQualifiedResource(resource) === DEFINITIONS) yield* this.#add(resource).list();
    for (const followed of await this.#findMore((name) =>
      this.leftOut.push(`${name}: this server has no such resource`),
    ))
      yield* followed.list();
    say(`read ${this.#followed.size} resources of ${client.url}`);
  }

  covers(resource: GroupResource): boolean {
    return this.#followed.has(toQualifiedResource(resource));
  }

  async close(): Promise<void> {
    this.#parts.client.close();
  }

  #add(resource: ApiResource): FollowedResource {
    const { client, say, shapes } = this.#parts;
    const added = new FollowedResource(resource, { client, say, isCustom: shapes.isCustom(resource) });
    this.#followed.set(toQualifiedResource(resource), added);
    return added;
  }

  /** Adds the resources that the source serves and that are not followed yet. */
  async #findMore(leaveOut: (name: string) => void = () => {}): Promise<readonly FollowedResource[]> {
    const { client, shapes } = this.#parts;
    const { resources } = await discover(client, (group, resource) =>
      shapes.storedVersionOf({ group, resource }),
    );
    const found: FollowedResource[] = [];
    for (const resource of resources) {
      const name = toQualifiedResource(resource);
      if (this.#followed.has(name)) continue;
      if (shapes.keeps(resource)) found.push(this.#add(resource));
      else leaveOut(name);
    }
    return found;
  }

  async *#follow(cutOver: AbortSignal): AsyncGenerator<SourceChange> {
    const queue = new ChangeQueue();
    const stop = new AbortController();
    const watches = runTogether(
      [
        ...[...this.#followed.values()].map((one) => this.#watch(one, queue)),
        (signal, also) => this.#watchMore(queue, { signal, also }),
      ],
      AbortSignal.any([cutOver, stop.signal]),
    ).finally(() => queue.end());
    // Thrown when the queue is read.
    watches.catch(() => {});
    try {
      for await (const change of queue.changes()) {
        yield change;
        if (change.object.kind === 'CustomResourceDefinition') this.#untilDiscovery.cutShort();
      }
      await watches;
    } finally {
      stop.abort();
      queue.end();
    }
    yield* this.#compare();
  }

  #watch(followed: FollowedResource, queue: ChangeQueue): (signal: AbortSignal) => Promise<void> {
    return async (signal) => {
      await followed.watch((change) => queue.put(change), signal);
      if (!signal.aborted) this.#followed.delete(followed.name);
    };
  }

  /** Watches what is defined from now on. */
  async #watchMore(
    queue: ChangeQueue,
    { signal, also }: { readonly signal: AbortSignal; readonly also: AlsoRun },
  ): Promise<void> {
    for (;;) {
      await this.#untilDiscovery.take(DISCOVERY, signal);
      if (signal.aborted) return;
      for (const found of await this.#findMore()) also(this.#watch(found, queue));
    }
  }

  /** What no watch has shown yet: the source may have written it a moment before the cut-over. */
  async *#compare(): AsyncGenerator<SourceChange> {
    await this.#findMore();
    for (const followed of this.#followed.values())
      for await (const { objects, removed = [] } of followed.list()) {
        for (const object of objects) yield { kind: 'put', object };
        for (const object of removed) yield { kind: 'removed', object };
      }
  }
}
