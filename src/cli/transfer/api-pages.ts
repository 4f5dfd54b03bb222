import { toApiVersion } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import type { ApiClient } from './api-client.ts';
import { type ApiResource, objectsOf, pathOf } from './api-resources.ts';

interface ListedPage {
  /** With kind and apiVersion. */
  readonly objects: readonly JsonObject[];
  /** How many follow; 0 where the server does not say. */
  readonly remaining: number;
  /** That of the whole list, from which a watch can begin. */
  readonly resourceVersion: string;
}

interface ListWish {
  /** '': all of them. */
  readonly namespace?: string;
  /** A revision or a moment; '': the present. */
  readonly asOf?: string;
}

const PAGE = 1000;

/** Lists a resource in pages of one state, the next of which is requested while the caller works on one. @throws ApiError */
export async function* listPages(
  client: ApiClient,
  resource: ApiResource,
  { namespace = '', asOf = '' }: ListWish,
): AsyncGenerator<ListedPage> {
  const path = pathOf(resource, namespace);
  const read = async (token: string): Promise<JsonObject> => {
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (token !== '') query.set('continue', token);
    else if (asOf !== '') query.set('asOf', asOf);
    return client.get(`${path}?${query}`);
  };
  let next: Promise<JsonObject> | undefined = read('');
  while (next !== undefined) {
    const { items, metadata } = await next;
    const head = isObject(metadata) ? metadata : {};
    const token = textOf(head.continue);
    next = token === '' ? undefined : read(token);
    // Handled when it is awaited, unless the caller stops before.
    next?.catch(() => {});
    yield {
      objects: objectsOf(items).map((item) => withType(item, resource)),
      remaining: Number(head.remainingItemCount ?? 0),
      resourceVersion: textOf(head.resourceVersion),
    };
  }
}

/** Items of a list lack the type that the list names. */
export const withType = (item: JsonObject, { group, version, kind }: ApiResource): JsonObject => ({
  ...item,
  kind,
  apiVersion: toApiVersion({ group, version }),
});
