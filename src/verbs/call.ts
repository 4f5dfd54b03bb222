import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { VerbContext } from './context.ts';
import type { Expected } from './declared-type.ts';
import type { WriteCall } from './writing/call.ts';

/** What a verb is called with: a request, what it is about, and what can answer it. */
export interface VerbCall {
  readonly context: VerbContext;
  readonly request: AuthorizedResourceRequest;
  readonly served: ServedResource;
  /** The subresource through which the object is read or written, such as status. */
  readonly view?: ViewSubresource;
}

/** Whether bodies are of the resource's own kind, as they are of a status, and not of a kind that the view makes up, as a scale is. */
export const hasOwnType = ({ served, view }: VerbCall): boolean =>
  view === undefined || view.type === served.definition.storage.type;

/** A served resource's own kind. */
export function ownType({ context: { types }, served: { definition, version } }: VerbCall): Expected {
  const { group, kind } = definition;
  return { group, version: version.version, kind, schema: types.message(version.type), types };
}

/** What a body must be. */
export function bodyType(call: VerbCall): Expected {
  const { context, view } = call;
  if (view === undefined || hasOwnType(call)) return ownType(call);
  return { ...view.served, schema: context.types.message(view.type), types: context.types };
}

/** `subresource`: where it is no view. */
export function toWriteCall(
  { request, served, view }: VerbCall,
  {
    dryRun,
    fieldManager,
    subresource,
  }: { readonly dryRun: boolean; readonly fieldManager: string; readonly subresource?: string },
): WriteCall {
  return {
    definition: served.definition,
    version: served.version.version,
    subresource: subresource ?? view?.name ?? '',
    namespace: request.target.namespace,
    author: {
      user: request.user,
      attribution: {
        username: request.user.username,
        userAgent: request.userAgent,
        sourceAddress: request.sourceAddress,
        requestId: request.id,
        fieldManager,
      },
    },
    dryRun,
    ownership: 'track',
    caller: request,
    request,
  };
}
