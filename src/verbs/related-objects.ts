import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { notFound } from '../api/status.ts';
import type { Caller } from '../request/api-request.ts';
import { ObjectReader } from '../storage/object-reader.ts';
import type { Store } from '../storage/store.ts';
import { toStatusError } from './writing/storage-status.ts';

/** The objects that an action or a connection looks at beside its own: as new as the request, errors in the API's words. */
export class RelatedObjects {
  readonly #reader: ObjectReader;

  constructor(store: Store, caller: Caller | undefined) {
    this.#reader = new ObjectReader(store, caller);
  }

  /** @throws StatusError NotFound */
  async get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T> {
    const found = await this.find(resource, namespace, name);
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  /** @throws StatusError */
  find<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return inStatuses(this.#reader.get(resource, { namespace, name }, 'latest'), resource, name);
  }

  /** @throws StatusError */
  list<T extends ApiObject>(resource: ResourceOf<T>, namespace: string): Promise<T[]> {
    return inStatuses(this.#reader.list(resource, { namespace }, 'latest'), resource, '');
  }
}

async function inStatuses<Result>(
  read: Promise<Result>,
  resource: ResourceOf<ApiObject>,
  name: string,
): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    throw toStatusError(error, resource, name);
  }
}
