import type { AdmissionChain } from '../admission/admission.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { internalError } from '../api/status.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import { parseStored } from '../codec/stored-object.ts';
import { encodeValue } from '../codec/wire-formats.ts';
import type {
  ActionContext,
  ActionSubresource,
  ResourceDefinition,
} from '../registry/resource-definition.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { runSteps } from '../util/turns.ts';
import { readObject } from './body.ts';
import { readMutationOptions } from './mutation-options.ts';
import { toDeleteOptions } from './remove.ts';
import { RelatedObjects, toWriteCall, type VerbCall, type VerbContext } from './verb-call.ts';
import { toAttributes } from './writing/admission-attributes.ts';
import { placeInNamespace, wipeSystemMetadata } from './writing/object-metadata.ts';
import { isLargeCall, type WriteCall } from './writing/write-call.ts';

/** Serves a POST to a subresource that acts: a binding, an eviction. */
export async function act(call: VerbCall, action: ActionSubresource): Promise<ApiResponse> {
  const posted = { call, subresource: action.name };
  return perform({ call, action, posted, nameOf: () => call.request.target.name });
}

/** Serves a POST to a collection that acts on the object named in the body. */
export async function actOnNamed(collection: VerbCall): Promise<ApiResponse> {
  const { context, request } = collection;
  const { definition, version } = collection.served;
  const { resource, subresource } = definition.actsOn ?? { resource: definition, subresource: '' };
  const served = context.registry.find(resource.group, version.version, resource.resource);
  const action = served?.definition.subresources.find(({ name }) => name === subresource);
  if (served === undefined || action?.access !== 'action') {
    throw internalError(`no ${resource.resource}/${subresource}`);
  }
  return perform({
    call: { context, request, served },
    action,
    posted: { call: collection, subresource: '' },
    nameOf: ({ metadata }) => metadata.name ?? '',
  });
}

interface ActionCall {
  /** For the resource to which the action belongs. */
  readonly call: VerbCall;
  readonly action: ActionSubresource;
  /** The path of the POST, which admission sees. */
  readonly posted: { readonly call: VerbCall; readonly subresource: string };
  readonly nameOf: (body: ApiObject) => string;
}

async function perform({ call, action, posted, nameOf }: ActionCall): Promise<ApiResponse> {
  const { context, request } = call;
  const representation = negotiate(request.headers.accept, {
    pretty: wantsPretty(request.query, request.userAgent),
    protobuf: false,
    tables: false,
    cbor: request.knowsCbor,
  });
  const options = readMutationOptions(request, 'CreateOptions');
  const { types } = context;
  const { alsoFrom } = action;
  const expected = { ...action.served, schema: types.message(action.type), types, alsoFrom };
  const body = await readObject(request, expected, options.fieldValidation);
  const write = toWriteCall(call, { ...options, subresource: action.name });
  placeInNamespace(body.metadata, call.served.definition, request.target.namespace);
  if (posted.subresource === '' || action.keepsSystemMetadata?.(context.isFeatureOn) !== true)
    wipeSystemMetadata(body.metadata);
  const name = nameOf(body);
  const seen = toWriteCall(posted.call, { ...options, subresource: posted.subresource });
  await runSteps(isLargeCall(seen), context.writer.ownership.trackBody(seen, body, expected.schema));
  await admit(context.admission, seen, name, body);
  const { code, object } = await action.create(body, new Actions(context, write, name));
  return {
    kind: 'bytes',
    code,
    contentType: representation.contentType,
    chunks: [encodeValue(object, representation)],
    compressible: false,
  };
}

/** Admits an action as a create of the body, regardless of its effect (Kubernetes: without admission of its writes). */
async function admit(
  admission: AdmissionChain,
  write: WriteCall,
  name: string,
  body: ApiObject,
): Promise<void> {
  const attributes = { ...toAttributes(write, 'CREATE', body, undefined), name };
  await admission.mutate(attributes);
  await admission.validate(attributes);
}

class Actions implements ActionContext {
  readonly name: string;
  readonly #context: VerbContext;
  readonly #write: WriteCall;
  readonly #objects: RelatedObjects;

  constructor(context: VerbContext, write: WriteCall, name: string) {
    this.#context = context;
    this.#objects = new RelatedObjects(context.store, write.caller);
    this.#write = { ...write, ownership: 'leave', isAdmitted: true };
    this.name = name;
  }

  get namespace(): string {
    return this.#write.namespace;
  }

  get tokens(): TokenIssuing {
    return this.#context.tokens;
  }

  get isOn(): Gates {
    return this.#context.isFeatureOn;
  }

  warn(text: string): void {
    this.#write.request?.warn(text);
  }

  annotate(key: string, value: string): void {
    this.#write.request?.audit?.annotate(key, value);
  }

  get dryRun(): boolean {
    return this.#write.dryRun;
  }

  async update(change: (object: ApiObject) => ApiObject): Promise<ApiObject> {
    const written = await this.#context.writer.update(this.#write, this.name, {
      kind: 'state',
      apply: change,
    });
    return parseStored(written.json);
  }

  async remove(options: Parameters<ActionContext['remove']>[0]): Promise<ApiObject> {
    const wanted = toDeleteOptions(options);
    const removed = await this.#context.writer.remove(this.#write, this.name, {
      ...wanted,
      dryRun: wanted.dryRun || this.dryRun,
    });
    return parseStored(removed.json);
  }

  get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T> {
    return this.#objects.get(resource, namespace, name);
  }

  find<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return this.#objects.find(resource, namespace, name);
  }

  list<T extends ApiObject>(resource: ResourceOf<T>, namespace: string): Promise<T[]> {
    return this.#objects.list(resource, namespace);
  }

  async modify<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
    change: (object: T) => T,
  ): Promise<T> {
    const { isAdmitted: _, ...write } = this.#write;
    const definition = this.#definition(resource);
    const modification: WriteCall = { ...write, definition, namespace, subresource: 'status' };
    const written = await this.#context.writer.update(modification, name, {
      kind: 'state',
      apply: change,
    });
    return parseStored<T>(written.json);
  }

  #definition(resource: GroupResource): ResourceDefinition {
    const definition = this.#context.registry.findStorage(resource);
    if (definition === undefined) throw internalError(`no resource ${resource.resource}`);
    return definition;
  }
}
