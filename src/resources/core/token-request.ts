import { type Gates, minorOf } from '../../api/feature-gates.ts';
import { NODES, PODS, SECRETS, SERVICE_ACCOUNTS } from '../../api/known-resources.ts';
import { type ResourceOf, toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject, ObjectMeta } from '../../api/object-meta.ts';
import { badRequest, conflict, internalError, invalid, type StatusError } from '../../api/status.ts';
import type {
  BoundObjectReference,
  TokenRequest,
  TokenRequestSpec,
} from '../../api/types/authentication/v1.ts';
import type { Node, Secret, ServiceAccount } from '../../api/types/core/v1.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { ActionContext, ActionSubresource } from '../../registry/resource-definition.ts';
import type { TokenSubject } from '../../registry/token-issuing.ts';
import { errorText } from '../../util/error-text.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } as const;
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * The validity of tokens that admission puts into pods. Other callers never request seven seconds over an hour, so that such a
 * token is for a pod that may be unable to renew it, and lives for a year.
 */
const INJECTED_SECONDS = 3607;

const NAMED_ACCOUNTS = 34;

/** Since 1.34 the uid of a request is that of its account. */
const namesAccounts = (isOn: Gates): boolean => minorOf(isOn) >= NAMED_ACCOUNTS;

/** Makes a token of the account (Kubernetes: registry/core/serviceaccount/storage/token.go). */
export const token: ActionSubresource<TokenRequest, ServiceAccount> = {
  access: 'action',
  name: 'token',
  served: KIND,
  type: 'authentication/v1.TokenRequest',
  verbs: ['create'],
  keepsSystemMetadata: namesAccounts,
  create: async (body, context) => {
    assertPlace(body, context);
    const { namespace, name, tokens } = context;
    const account = await context.get(SERVICE_ACCOUNTS, namespace, name);
    if (namesAccounts(context.isOn)) checkUid(body, account, context);
    const issuedAt = new Date();
    const { spec = {} } = body;
    const asked = spec.audiences ?? [];
    const audiences = asked.length === 0 ? [...tokens.apiAudiences] : asked;
    const expirationSeconds = validityOf(spec, context);
    const { boundObjectRef: reference = {} } = spec;
    const bound = await findBound(reference, context);
    const extended = isExtended(context, bound, audiences, expirationSeconds);
    const order = {
      ...{ namespace, account: toSubject(account), ...bound, audiences, issuedAt },
      ...(extended
        ? { expirationSeconds: context.tokens.maxExtendedSeconds, warnAfterSeconds: expirationSeconds }
        : { expirationSeconds }),
    };
    const signed = await tokens.sign(order).catch((error: unknown) => {
      throw internalError(`failed to generate token: ${errorText(error)}`, error);
    });
    const id = numberOf(signed);
    if (id !== undefined) context.annotate(ISSUED, `JTI=${id}`);
    const boundObjectRef = Object.keys(reference).length === 0 ? null : reference;
    return {
      code: 201,
      object: {
        ...toAnswer({ audiences, expirationSeconds, boundObjectRef }, issuedAt, signed),
        metadata: toMetadata(body, account, context, issuedAt),
      },
    };
  },
};

/** @throws StatusError 422 */
function assertPlace(body: TokenRequest, context: ActionContext): void {
  const wrong = problemsOf((at) => mustBeOfPlace(at, body, context), 'metadata');
  if (wrong.length > 0) throw invalid(KIND, context.name, wrong);
}

/** The body may say which account it means, for one that was made anew meanwhile. @throws StatusError 409 */
function checkUid(
  { metadata: { uid = '' } }: TokenRequest,
  account: ServiceAccount,
  context: ActionContext,
): void {
  if (uid === '' || uid === account.metadata.uid) return;
  const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`;
  if (context.tokens.checksUids)
    throw conflict({ group: KIND.group, resource: KIND.kind }, context.name, why);
  context.warn(
    `${why} but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error`,
  );
}

/** A name in the body must be the one in the path. */
function mustBeOfPlace(at: FieldPath, { metadata }: TokenRequest, context: ActionContext): void {
  const { name = '' } = metadata;
  if (name !== '' && name !== context.name)
    at.field('name').invalid(name, 'must match the service account name if specified');
}

/** @throws StatusError 422 */
function validityOf(spec: TokenRequestSpec, context: ActionContext): number {
  const { expirationSeconds: asked = DEFAULT_SECONDS } = spec;
  const seconds = Number(asked);
  const wrong = (why: string): never => {
    throw invalid(KIND, '', [invalidValue('spec.expirationSeconds', asked, why)]);
  };
  if (seconds < MIN_SECONDS) wrong('may not specify a duration less than 10 minutes');
  if (seconds > MAX_SECONDS) wrong('may not specify a duration larger than 2^32 seconds');
  const most = context.tokens.maxExpirationSeconds;
  if (most === 0 || seconds <= most) return seconds;
  context.warn(`requested expiration of ${seconds} seconds shortened to ${most} seconds`);
  return most;
}

interface Bound {
  readonly pod?: TokenSubject;
  readonly node?: TokenSubject;
  readonly secret?: TokenSubject;
}

/** The object that the token is bound to, and ends with. @throws StatusError 400, 404, 409 */
async function findBound(reference: BoundObjectReference, context: ActionContext): Promise<Bound> {
  const { kind = '', apiVersion = '' } = reference;
  if (Object.keys(reference).length === 0) return {};
  if (apiVersion !== '' && apiVersion !== 'v1') throw unbindable(reference);
  switch (kind) {
    case 'Pod':
      return bindPod(reference, context);
    case 'Secret':
      return { secret: await bind(SECRETS, reference, context) };
    case 'Node':
      if (!context.tokens.bindsNodes)
        throw badRequest(
          'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
        );
      return { node: await bind(NODES, reference, context) };
    default:
      throw unbindable(reference);
  }
}

const unbindable = ({ apiVersion = '', kind = '' }: BoundObjectReference): StatusError =>
  badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);

async function bind(
  resource: ResourceOf<Secret | Node>,
  reference: BoundObjectReference,
  context: ActionContext,
): Promise<TokenSubject> {
  const namespace = resource === NODES ? '' : context.namespace;
  return toChecked(await context.get(resource, namespace, reference.name ?? ''), reference);
}

async function bindPod(reference: BoundObjectReference, context: ActionContext): Promise<Bound> {
  const pod = await context.get(PODS, context.namespace, reference.name ?? '');
  const { serviceAccountName = '', nodeName = '' } = pod.spec ?? {};
  if (serviceAccountName !== context.name)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(context.name)} to pod running with different serviceaccount name.`,
    );
  const checked = toChecked(pod, reference);
  if (nodeName === '' || !context.tokens.tellsNodes) return { pod: checked };
  return { pod: checked, node: await findNode(nodeName, context) };
}

/** A node that is gone is named all the same: readers of the token learn where the pod was. */
async function findNode(name: string, context: ActionContext): Promise<TokenSubject> {
  const node = await context.find(NODES, '', name);
  return node === undefined ? { name } : toSubject(node);
}

function toChecked(object: ApiObject, reference: BoundObjectReference): TokenSubject {
  const subject = toSubject(object);
  const { kind = '', name = '', uid = '' } = reference;
  if (uid === '' || uid === subject.uid) return subject;
  throw conflict(
    { group: '', resource: kind },
    name,
    `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  );
}

const toSubject = ({ metadata }: ApiObject): TokenSubject => ({
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

function isExtended(
  { tokens }: ActionContext,
  { pod }: Bound,
  audiences: readonly string[],
  seconds: number,
): boolean {
  const own = audiences.every((audience) => tokens.apiAudiences.includes(audience));
  return tokens.extendsExpiration && pod !== undefined && seconds === INJECTED_SECONDS && own;
}

/** The claim jti: the number under which audit events know the token. Undefined: it is no JWT, or has no number. */
function numberOf(signed: string): string | undefined {
  const [, claims = ''] = signed.split('.', 2);
  try {
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti?: string };
    return jti;
  } catch {
    return undefined;
  }
}

const ISSUED = 'authentication.kubernetes.io/issued-credential-id';

/** Gives the metadata of the body back, completed. */
function toMetadata(
  { metadata }: TokenRequest,
  { metadata: { uid: own = '' } }: ServiceAccount,
  { name, namespace, isOn }: ActionContext,
  issuedAt: Date,
): ObjectMeta {
  const { managedFields, uid = '', ...given } = metadata;
  return {
    ...given,
    ...{ name, namespace, creationTimestamp: toTimestamp(issuedAt) },
    ...(namesAccounts(isOn) ? { uid: uid === '' ? own : uid } : {}),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}

function toAnswer(
  spec: JsonObject & { expirationSeconds: number },
  issuedAt: Date,
  signed: string,
): JsonObject {
  return {
    kind: KIND.kind,
    apiVersion: toApiVersion(KIND),
    spec,
    status: {
      token: signed,
      expirationTimestamp: toTimestamp(new Date(issuedAt.getTime() + spec.expirationSeconds * 1000)),
    },
  };
}
