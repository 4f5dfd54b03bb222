import { toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { pause } from '../../util/pause.ts';
import { type ApiClient, ApiError, isPassing } from './api-client.ts';
import { listPages, withType } from './api-pages.ts';
import { type ApiResource, pathOf } from './api-resources.ts';
import type { SourceChange, SourcePart } from './source.ts';

interface FollowedParts {
  readonly client: ApiClient;
  readonly say: (line: string) => void;
  /** Whether a definition has made it, and may be removed. */
  readonly isCustom: boolean;
}

type Put = (change: SourceChange) => Promise<void>;

const AGAIN_MS = 1000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * FollowedResource reads one resource of an API server: first by a list, then by watches that go on from there. It knows the version
 * of each object that it has shown. When a watch is too old, it lists again, and shows what differs: no change is lost, and none is
 * shown twice.
 */
export class FollowedResource {
  readonly #resource: ApiResource;
  readonly #parts: FollowedParts;
  /** The metadata by which an object is removed and compared, by its place. */
  readonly #known = new Map<string, JsonObject>();
  /** Where the next watch begins; '': a list comes first. */
  #version = '';

  constructor(resource: ApiResource, parts: FollowedParts) {
    this.#resource = resource;
    this.#parts = parts;
  }

  get name(): string {
    return toQualifiedResource(this.#resource);
  }

  /**
   * Lists what is new or has changed since it was last shown, then what is gone: all objects where their definition is gone.
   * @throws ApiError, Error
   */
  async *list(): AsyncGenerator<SourcePart<JsonObject>> {
    const label = this.#resource.resource;
    const gone = new Map(this.#known);
    for (;;)
      try {
        yield* this.#listOnce(gone);
        break;
      } catch (error) {
        if (hasCode(error, 404) && (await this.#isUndefined())) break;
        if (!hasCode(error, 410)) throw error;
        this.#parts.say(`${label} are listed again: ${errorText(error)}`);
        for (const [place, metadata] of this.#known) gone.set(place, metadata);
      }
    for (const place of gone.keys()) this.#known.delete(place);
    if (gone.size > 0)
      yield {
        label,
        objects: [],
        remaining: -1,
        removed: [...gone.values()].map((one) => this.#toRemoved(one)),
      };
  }

  async *#listOnce(gone: Map<string, JsonObject>): AsyncGenerator<SourcePart<JsonObject>> {
    const label = this.#resource.resource;
    let remaining: number | undefined;
    let version = '';
    for await (const page of listPages(this.#parts.client, this.#resource, {})) {
      for (const object of page.objects) gone.delete(placeOf(object));
      version = page.resourceVersion;
      yield {
        label,
        objects: page.objects.filter((object) => this.#isNews(object)),
        remaining: remaining === undefined ? page.remaining : -1,
      };
      remaining = page.remaining;
    }
    this.#version = version;
  }

  /** Watches until the signal aborts, or the resource is not defined any more. @throws ApiError, Error */
  async watch(put: Put, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#version === '') await this.#catchUp(put);
        await this.#watchOnce(put, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (hasCode(error, 404) && (await this.#isUndefined())) return this.#catchUp(put);
        if (hasCode(error, 410)) this.#version = '';
        else if (error instanceof ApiError && !hasCode(error, 404) && !isPassing(error)) throw error;
        this.#parts.say(`${this.#resource.resource} are watched again: ${errorText(error)}`);
      }
      await pause(AGAIN_MS, signal);
    }
  }

  /** The version moves with each event, so that a connection that breaks repeats none. @throws ApiError 410 */
  async #watchOnce(put: Put, signal: AbortSignal): Promise<void> {
    const path = pathOf(this.#resource);
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion=${this.#version}`;
    for await (const { type, object } of this.#parts.client.lines(`${path}?${query}`, signal)) {
      if (!isObject(object)) continue;
      if (type === 'ERROR') throw new ApiError(path, Number(object.code ?? 0), textOf(object.message));
      this.#version = textOf(metadataOf(object).resourceVersion) || this.#version;
      if (type === 'BOOKMARK') continue;
      const typed = withType(object, this.#resource);
      if (type === 'DELETED') this.#known.delete(placeOf(typed));
      else this.#isNews(typed);
      await put({ kind: type === 'DELETED' ? 'removed' : 'put', object: typed });
    }
  }

  async #catchUp(put: Put): Promise<void> {
    for await (const { objects, removed = [] } of this.list()) {
      for (const object of objects) await put({ kind: 'put', object });
      for (const object of removed) await put({ kind: 'removed', object });
    }
  }

  /** Notes the object; whether it was not shown in this version yet. */
  #isNews(object: JsonObject): boolean {
    const { namespace, name, uid, resourceVersion } = metadataOf(object);
    const place = placeOf(object);
    const known = this.#known.get(place);
    if (known?.resourceVersion === resourceVersion && known?.uid === uid) return false;
    this.#known.set(place, {
      ...(namespace === undefined ? {} : { namespace }),
      ...{ name, uid, resourceVersion },
    });
    return true;
  }

  async #isUndefined(): Promise<boolean> {
    if (!this.#parts.isCustom) return false;
    try {
      await this.#parts.client.get(`${DEFINITIONS}/${this.name}`);
      return false;
    } catch (error) {
      if (hasCode(error, 404)) return true;
      throw error;
    }
  }

  #toRemoved(metadata: JsonObject): JsonObject {
    return withType({ metadata }, this.#resource);
  }
}

const hasCode = (error: unknown, code: number): boolean => error instanceof ApiError && error.code === code;

const metadataOf = ({ metadata }: JsonObject): JsonObject => (isObject(metadata) ? metadata : {});

function placeOf(object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  return `${textOf(namespace)}/${textOf(name)}`;
}
