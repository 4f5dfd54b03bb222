import type { ApiObject } from '../api/object-meta.ts';
import { toStorage } from '../registry/conversion.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { expectedOf, type Replacement, readObject, readReplacement } from './body.ts';
import { toWriteContext, type VerbContext } from './context.ts';
import { assertMayCreate } from './create-instead.ts';
import type { Expected } from './declared-type.ts';
import { checkNameMatches, readMutationOptions } from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import type { Change } from './writing/change.ts';

/** create and update (PUT). */

export async function create(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
): Promise<ApiResponse> {
  const form = formFor(context, request, served);
  const options = readMutationOptions(request, 'CreateOptions');
  const expected = expectedOf(served, context.types);
  const object = await readObject(request, expected, options.fieldValidation);
  const written = await context.writer.create(
    toWriteContext(request, served, options),
    toStorage(object, served),
  );
  return objectResponse(form, 201, written);
}

export async function update(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  view?: ViewSubresource,
): Promise<ApiResponse> {
  const form = formFor(context, request, served, view);
  const options = readMutationOptions(request, 'UpdateOptions');
  const expected = expectedFor(context, served, view);
  const replacement = await readReplacement(request, expected, options.fieldValidation);
  const { name } = request.target;
  checkNameMatches(replacement.name, name);
  const writing = toWriteContext(request, served, { ...options, subresource: view?.name ?? '' });
  const change =
    view === undefined
      ? replaceWith(context, request, { replacement, served })
      : changeThrough(view, replacement, served);
  const written = await context.writer.update(writing, name, change);
  return objectResponse(form, written.created ? 201 : 200, written);
}

/** What a body written through a view must be: the resource's own kind for a status, Scale for a scale. */
export function expectedFor(
  context: VerbContext,
  served: ServedResource,
  view: ViewSubresource | undefined,
): Expected {
  if (view === undefined || view.type === served.definition.storage.type) {
    return expectedOf(served, context.types);
  }
  return { ...view.served, schema: context.types.message(view.type), types: context.types };
}

function replaceWith(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  { replacement, served }: { replacement: Replacement; served: ServedResource },
): Change {
  const take = (): ApiObject => toStorage(replacement.take(), served);
  const { allowCreateOnUpdate } = served.definition.strategy;
  return { apply: take, leavesCopy: true, ...(allowCreateOnUpdate ? { create } : {}) };
  async function create(): Promise<ApiObject> {
    await assertMayCreate(context.authorizer, request);
    return take();
  }
}

function changeThrough(view: ViewSubresource, replacement: Replacement, served: ServedResource): Change {
  const own = view.type === served.definition.storage.type;
  const take = (): ApiObject => (own ? toStorage(replacement.take(), served) : replacement.take());
  return {
    apply: (old) => view.write(take(), old),
    leavesCopy: true,
    validate: (next, old) => view.validate?.(next, old) ?? [],
  };
}
