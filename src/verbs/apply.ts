import { canonicalApiVersion } from '../api/dialect.ts';
import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, StatusError } from '../api/status.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { copyJson } from '../object/copy.ts';
import {
  ApplyConflict,
  applyInSteps,
  describeConflicts,
  describeOwner,
  MAX_DESCRIBED,
} from '../object/managed-fields/apply-config.ts';
import { checkConfig } from '../object/managed-fields/check-config.ts';
import { formatPath } from '../object/managed-fields/field-set.ts';
import { emptyObject } from '../object/managed-fields/shape.ts';
import { isObject } from '../object/merge-patch.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { atOnce, inTurns } from '../util/steps.ts';
import { type Expected, expectedOf, toObject } from './body.ts';
import { toWriteContext, type VerbContext } from './context.ts';
import { assertMayCreate } from './create-instead.ts';
import { checkNameMatches, type MutationOptions, readMutationOptions } from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import { receive } from './receive.ts';
import type { Change, WriteContext } from './writing.ts';

/** Server-side apply: a PATCH whose body is what its manager wants the object to be. */
export const APPLY_PATCH = 'application/apply-patch+yaml';

export async function apply(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  view?: ViewSubresource,
): Promise<ApiResponse> {
  const form = formFor(context, request, served, view);
  const options = readMutationOptions(request, 'PatchOptions', true);
  const expected = expectedOf(served, context.types.message(served.version.type));
  const config = await readConfig(request, options, { expected, ...(view === undefined ? {} : { view }) });
  const subresource = view?.name ?? '';
  const writing = {
    ...toWriteContext(request, served, { ...options, subresource }),
    ownership: 'leave',
  } as const;
  const application = {
    request,
    served,
    expected,
    config,
    options,
    writing,
    ...(view === undefined ? {} : { view }),
  };
  const written = await context.writer.update(
    writing,
    request.target.name,
    applyChange(context, application),
  );
  return objectResponse(form, written.created ? 201 : 200, written);
}

interface Application {
  readonly request: AuthorizedResourceRequest;
  readonly served: ServedResource;
  readonly view?: ViewSubresource;
  readonly expected: Expected;
  readonly config: JsonObject;
  readonly options: MutationOptions;
  readonly writing: WriteContext;
}

function applyChange(context: VerbContext, application: Application): Change {
  const { served, view, request } = application;
  const applyTo = async (live: ApiObject): Promise<ApiObject> =>
    toStorage(await applied(context, application, live), served);
  if (view !== undefined) {
    return {
      apply: async (copy) => view.write(viewOf(await applyTo(toSeen(copy, served)), view), copy),
      validate: (next, old) => view.validate?.(next, old) ?? [],
    };
  }
  return {
    apply: (copy) => applyTo(toSeen(copy, served)),
    create: async () => {
      await assertMayCreate(context.authorizer, request);
      const created = await applyTo(blank(application));
      checkNameMatches(created.metadata.name ?? request.target.name, request.target.name);
      return created;
    },
  };
}

/** What the view's write takes: the parent for a status, its own kind for a scale. Ownership comes along. */
function viewOf(parent: ApiObject, view: ViewSubresource): ApiObject {
  return view.toParent === undefined ? parent : { ...view.read(parent), metadata: parent.metadata };
}

function blank({ expected, served }: Application): ApiObject {
  const { group, version } = expected;
  const empty = copyJson(emptyObject(expected.schema));
  return {
    ...empty,
    kind: served.definition.kind,
    apiVersion: toApiVersion({ group, version }),
    metadata: {},
  };
}

/** @throws StatusError 409 */
async function applied(context: VerbContext, application: Application, live: ApiObject): Promise<ApiObject> {
  const { request, expected, config, options, writing } = application;
  try {
    const steps = applyInSteps(live, config, context.ownership.describe(writing), options);
    const object = writing.large === true ? await inTurns(steps) : atOnce(steps);
    checkNameMatches(object.metadata.name ?? request.target.name, request.target.name);
    const stored = live.metadata.uid !== undefined && application.served.version.conversion === undefined;
    const document = { value: object, duplicates: [], ...(stored ? { known: live } : {}) };
    return toObject(request, document, expected, 'Ignore');
  } catch (error) {
    throw error instanceof ApplyConflict ? toStatus(error) : error;
  }
}

function toStatus(error: ApplyConflict): StatusError {
  const causes = error.conflicts.slice(0, MAX_DESCRIBED).map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: formatPath(path),
  }));
  return new StatusError({
    code: 409,
    reason: 'Conflict',
    message: describeConflicts(error.conflicts),
    details: { causes },
  });
}

/**
 * The body, YAML or JSON, as a configuration of the parent in the version of the path.
 * @throws StatusError 400, 413
 */
async function readConfig(
  request: AuthorizedResourceRequest,
  options: MutationOptions,
  { expected, view }: { expected: Expected; view?: ViewSubresource },
): Promise<JsonObject> {
  const { value, duplicates } = parse(await receive(request));
  if (!isObject(value)) throw badRequest('error decoding YAML: the configuration must be an object');
  request.audit?.requestObject(value);
  reportDuplicates(request, duplicates, options);
  const own = view?.toParent === undefined;
  checkType(value, own ? expected : { ...expected, ...view.served });
  const metadata = isObject(value.metadata) ? value.metadata : {};
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const config = own ? value : { metadata, ...view.toParent?.(value) };
  checkFields(config, request, expected);
  const { group, version, kind } = expected;
  return { ...config, kind, apiVersion: toApiVersion({ group, version }) };
}

function parse(bytes: Buffer): { value: JsonValue; duplicates: readonly string[] } {
  try {
    return parseYamlText(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

function reportDuplicates(
  request: AuthorizedResourceRequest,
  duplicates: readonly string[],
  { fieldValidation }: MutationOptions,
): void {
  const problems = duplicates.map((path) => `key "${path}" already set in map`);
  if (problems.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: ${problems.join(', ')}`);
  }
  if (fieldValidation === 'Warn') for (const problem of problems) request.warn(problem);
}

function checkType(
  { kind, apiVersion }: JsonObject,
  { group, version, kind: wanted }: Omit<Expected, 'schema'>,
): void {
  const given = typeof apiVersion === 'string' ? canonicalApiVersion(apiVersion) : '';
  if (kind === wanted && given === toApiVersion({ group, version })) return;
  throw badRequest(
    `invalid object type: the configuration is a ${String(kind ?? '""')} of ${String(apiVersion ?? '""')}, the path takes a ${wanted} of ${toApiVersion({ group, version })}`,
  );
}

/** Fields and types of a configuration are always checked: what is not in the type can have no owner. */
function checkFields(
  config: JsonObject,
  { target }: AuthorizedResourceRequest,
  { group, version, kind, schema }: Expected,
): void {
  const errors = checkConfig(config, schema);
  if (errors.length === 0) return;
  const name = target.namespace === '' ? `/${target.name}` : `${target.namespace}/${target.name}`;
  const list = errors.length === 1 ? errors[0] : `errors:\n  ${errors.join('\n  ')}`;
  throw badRequest(
    `failed to create typed patch object (${name}; ${toApiVersion({ group, version })}, Kind=${kind}): ${list}`,
  );
}
