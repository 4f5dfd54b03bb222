import type { AdmissionChain } from '../admission/admission.ts';
import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { internalError, notFound } from '../api/status.ts';
import { encodeValue } from '../codec/formats.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { ActionContext, ActionSubresource, ResourceDefinition } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { toResourceVersion } from '../storage/revision.ts';
import { readObject } from './body.ts';
import { toWriteContext, type VerbContext } from './context.ts';
import { readMutationOptions } from './mutation-options.ts';
import { toDeleteOptions } from './remove.ts';
import { toAttributes } from './writing/admission-attributes.ts';
import type { WriteContext } from './writing/change.ts';

/** POST to a subresource that does something: a binding, an eviction. */
export async function act(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  action: ActionSubresource,
): Promise<ApiResponse> {
  const asked = { served, subresource: action.name };
  return perform(context, request, { served, action, asked, nameOf: () => request.target.name });
}

/** POST to a collection that stands for an action, on the object that the body names. */
export async function actOnNamed(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  collection: ServedResource,
): Promise<ApiResponse> {
  const { definition, version } = collection;
  const { resource, subresource } = definition.actsOn ?? { resource: definition, subresource: '' };
  const served = context.registry.find(resource.group, version.version, resource.resource);
  const action = served?.definition.subresources.find(({ name }) => name === subresource);
  if (served === undefined || action?.access !== 'action') {
    throw internalError(`no ${resource.resource}/${subresource}`);
  }
  const asked = { served: collection, subresource: '' };
  return perform(context, request, { served, action, asked, nameOf: ({ metadata }) => metadata.name ?? '' });
}

interface Performance {
  readonly served: ServedResource;
  readonly action: ActionSubresource;
  /** What the caller wrote to, which is what admission is asked about. */
  readonly asked: { readonly served: ServedResource; readonly subresource: string };
  readonly nameOf: (body: ApiObject) => string;
}

async function perform(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  { served, action, asked, nameOf }: Performance,
): Promise<ApiResponse> {
  const representation = negotiate(request.headers.accept, {
    pretty: wantsPretty(request.query, request.userAgent),
    protobuf: false,
    tables: false,
  });
  const options = readMutationOptions(request, 'CreateOptions');
  const { types } = context;
  const expected = { ...action.served, schema: types.message(action.type), types };
  const body = await readObject(request, expected, options.fieldValidation);
  const writing = toWriteContext(request, served, { ...options, subresource: action.name });
  const name = nameOf(body);
  await admit(context.admission, toWriteContext(request, asked.served, { ...options, ...asked }), name, body);
  const { code, object } = await action.create(body, new Actions(context, writing, name));
  return {
    kind: 'bytes',
    code,
    contentType: representation.contentType,
    chunks: [encodeValue(object, representation)],
    compressible: false,
  };
}

/** An action is a create of what was sent, whatever it does then (Kubernetes: its own writes are not asked about). */
async function admit(
  admission: AdmissionChain,
  writing: WriteContext,
  name: string,
  body: ApiObject,
): Promise<void> {
  const attributes = { ...toAttributes(writing, 'CREATE', body, undefined), name };
  await admission.mutate(attributes);
  await admission.validate(attributes);
}

class Actions implements ActionContext {
  readonly name: string;
  readonly #context: VerbContext;
  readonly #writing: WriteContext;

  constructor(context: VerbContext, writing: WriteContext, name: string) {
    this.#context = context;
    this.#writing = { ...writing, ownership: 'leave', admitted: true };
    this.name = name;
  }

  get namespace(): string {
    return this.#writing.namespace;
  }

  get tokens(): TokenIssuing {
    return this.#context.tokens;
  }

  warn(text: string): void {
    this.#writing.warn(text);
  }

  get dryRun(): boolean {
    return this.#writing.dryRun;
  }

  async update(change: (object: ApiObject) => ApiObject): Promise<ApiObject> {
    const written = await this.#context.writer.update(this.#writing, this.name, {
      apply: change,
      validate: () => [],
    });
    return parseStored(written.json);
  }

  async remove(options: Parameters<ActionContext['remove']>[0]): Promise<ApiObject> {
    const wanted = toDeleteOptions(options);
    const removed = await this.#context.writer.remove(this.#writing, this.name, {
      ...wanted,
      dryRun: wanted.dryRun || this.dryRun,
    });
    return parseStored(removed.json);
  }

  async get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T> {
    const key = { ...resource, namespace, name };
    const entry = await this.#context.store.get(key, { kind: 'latest' }, this.#writing.caller);
    if (entry === undefined) throw notFound(resource, name);
    return parseStored<T>(entry.json, toResourceVersion(entry.revision));
  }

  async list<T extends ApiObject>(resource: ResourceOf<T>, namespace: string): Promise<T[]> {
    const { caller } = this.#writing;
    const query = { resource, scope: { namespace }, freshness: { kind: 'latest' }, limit: 0 } as const;
    const { entries } = await this.#context.store.list({ ...query, ...(caller && { caller }) });
    return entries.map((entry) => parseStored<T>(entry.json, toResourceVersion(entry.revision)));
  }

  async modify<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
    change: (object: T) => T,
  ): Promise<T> {
    const { admitted: _, ...context } = this.#writing;
    const definition = this.#definition(resource);
    const writing: WriteContext = { ...context, definition, namespace, subresource: 'status' };
    const apply = change as unknown as (object: ApiObject) => ApiObject;
    const written = await this.#context.writer.update(writing, name, { apply, validate: () => [] });
    return parseStored<T>(written.json);
  }

  #definition(resource: GroupResource): ResourceDefinition {
    const definition = this.#context.registry.findStorage(resource);
    if (definition === undefined) throw internalError(`no resource ${resource.resource}`);
    return definition;
  }
}
