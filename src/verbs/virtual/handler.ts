import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';

/** Types that represent a question instead of an object: posted, answered, never stored. */
export type VirtualHandler = (
  body: ApiObject,
  request: AuthorizedResourceRequest,
) => Promise<JsonObject> | JsonObject;

/** By `group/resource`. */
export type VirtualHandlers = ReadonlyMap<string, VirtualHandler>;
