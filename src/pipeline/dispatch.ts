import { pathNotFound } from '../api/status.ts';
import { type AuthorizedRequest, isResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';

/** Answers what is no resource; undefined for a path that it does not know. */
export type DocumentHandler = (
  request: AuthorizedRequest,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;

/** Resources go to their verb, all else to the documents. @throws StatusError */
export async function dispatch(
  { documents, resources }: { readonly documents: DocumentHandler; readonly resources: ResourceHandler },
  request: AuthorizedRequest,
): Promise<ApiResponse> {
  if (isResourceRequest(request)) return resources(request);
  const document = await documents(request);
  if (document === undefined) throw pathNotFound();
  return document;
}
