import { toApiVersion } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { badRequest, conflict, type FieldError, invalid, StatusError } from '../../api/status.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { count, part, text } from '../../object/parts.ts';
import type { ActionContext, ActionSubresource } from '../../registry/definition.ts';
import type { TokenSubject } from '../../registry/token-issuing.ts';
import { strings } from '../validation/values.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } as const;
const ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * The validity that admission asks for in pods it gives a token to. Nobody else asks for seven seconds more than an hour, so
 * such a token is one that its pod may never have learned to renew, and lives for a year.
 */
const INJECTED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

/** Makes a token of the account (Kubernetes: registry/core/serviceaccount/storage/token.go). */
export const token: ActionSubresource = {
  access: 'action',
  name: 'token',
  served: KIND,
  type: 'authentication/v1.TokenRequest',
  verbs: ['create'],
  create: async (body, context) => {
    checkPlace(body, context);
    const { namespace, name, tokens } = context;
    const account = await context.get(ACCOUNTS, namespace, name);
    const issuedAt = new Date();
    const spec = part(body, 'spec');
    const asked = strings(spec, 'audiences');
    const audiences = asked.length === 0 ? [...tokens.apiAudiences] : asked;
    const expirationSeconds = validityOf(spec, context);
    const reference = part(spec, 'boundObjectRef');
    const bound = await findBound(reference, context);
    const extended = isExtended(context, bound, audiences, expirationSeconds);
    const signed = await tokens.sign({
      namespace,
      account: toSubject(account),
      ...bound,
      audiences,
      issuedAt,
      ...(extended
        ? { expirationSeconds: EXTENDED_SECONDS, warnAfterSeconds: expirationSeconds }
        : { expirationSeconds }),
    });
    const boundObjectRef = Object.keys(reference).length === 0 ? null : reference;
    return {
      code: 201,
      object: toAnswer(context, { audiences, expirationSeconds, boundObjectRef }, issuedAt, signed),
    };
  },
};

/** A name in the body must be the one in the path. @throws StatusError 422 */
function checkPlace({ metadata }: ApiObject, { namespace, name }: ActionContext): void {
  const wrong: FieldError[] = [];
  if ((metadata.name ?? '') !== '' && metadata.name !== name) {
    const why = 'must match the service account name if specified';
    wrong.push(invalidValue('metadata.name', metadata.name, why));
  } else if ((metadata.namespace ?? '') !== '' && metadata.namespace !== namespace) {
    const why = 'must match the service account namespace if specified';
    wrong.push(invalidValue('metadata.namespace', metadata.namespace, why));
  }
  if (wrong.length > 0) throw invalid(KIND, name, wrong);
}

/** @throws StatusError 422 */
function validityOf(spec: JsonObject, context: ActionContext): number {
  const asked = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const seconds = count(asked);
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

/** What the token is to live with. @throws StatusError 400, 404, 409 */
async function findBound(reference: JsonObject, context: ActionContext): Promise<Bound> {
  const kind = text(reference.kind);
  const apiVersion = text(reference.apiVersion);
  if (Object.keys(reference).length === 0) return {};
  if (apiVersion !== '' && apiVersion !== 'v1') throw unbindable(reference);
  switch (kind) {
    case 'Pod':
      return bindPod(reference, context);
    case 'Secret':
      return { secret: await bind('secrets', reference, context) };
    case 'Node':
      if (!context.tokens.bindsNodes) {
        throw badRequest(
          'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
        );
      }
      return { node: await bind('nodes', reference, context) };
    default:
      throw unbindable(reference);
  }
}

const unbindable = ({ apiVersion, kind }: JsonObject): StatusError =>
  badRequest(`cannot bind token to object of type ${text(apiVersion)}, Kind=${text(kind)}`);

async function bind(resource: string, reference: JsonObject, context: ActionContext): Promise<TokenSubject> {
  const namespace = resource === 'nodes' ? '' : context.namespace;
  const object = await context.get({ group: '', resource }, namespace, text(reference.name));
  return toChecked(object, reference);
}

async function bindPod(reference: JsonObject, context: ActionContext): Promise<Bound> {
  const pod = await context.get({ group: '', resource: 'pods' }, context.namespace, text(reference.name));
  const spec = part(pod, 'spec');
  if (text(spec.serviceAccountName) !== context.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(context.name)} to pod running with different serviceaccount name.`,
    );
  }
  const checked = toChecked(pod, reference);
  const nodeName = text(spec.nodeName);
  if (nodeName === '' || !context.tokens.tellsNodes) return { pod: checked };
  return { pod: checked, node: await findNode(nodeName, context) };
}

/** A node that is gone is named all the same: readers of the token learn where the pod was. */
async function findNode(name: string, context: ActionContext): Promise<TokenSubject> {
  try {
    return toSubject(await context.get({ group: '', resource: 'nodes' }, '', name));
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === 'NotFound') return { name };
    throw error;
  }
}

function toChecked(object: ApiObject, reference: JsonObject): TokenSubject {
  const subject = toSubject(object);
  const uid = text(reference.uid);
  if (uid === '' || uid === subject.uid) return subject;
  throw conflict(
    { group: '', resource: text(reference.kind) },
    text(reference.name),
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

function toAnswer(
  { namespace, name }: ActionContext,
  spec: JsonObject & { expirationSeconds: number },
  issuedAt: Date,
  signed: string,
): JsonObject {
  const stamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
  return {
    kind: KIND.kind,
    apiVersion: toApiVersion(KIND),
    metadata: { name, namespace, creationTimestamp: stamp(issuedAt) },
    spec,
    status: {
      token: signed,
      expirationTimestamp: stamp(new Date(issuedAt.getTime() + spec.expirationSeconds * 1000)),
    },
  };
}
