import type { Environment } from '@marcbachmann/cel-js';
import { checkName } from '../../object/text-formats.ts';
import { spend } from '../budget.ts';

/** The subject of a question: the user of the request, or a service account. */
interface Asker {
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

/** A question that `check` asks. */
export type Question = Asker & { readonly verb: string } & (
    | { readonly kind: 'path'; readonly path: string }
    | {
        readonly kind: 'resource';
        readonly group: string;
        readonly resource: string;
        readonly subresource: string;
        readonly namespace: string;
        readonly name: string;
        /** Texts, as in a query. */
        readonly fieldSelector?: string;
        readonly labelSelector?: string;
      }
  );

export interface AuthorizerAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/** Returns the answer at once, or throws an error that reruns the whole expression when the answer is known. */
export type Ask = (question: Question) => AuthorizerAnswer;

type ResourceFields = Omit<Extract<Question, { kind: 'resource' }>, 'kind' | 'verb' | 'serviceAccount'>;

export class CelAuthorizer {
  readonly ask: Ask;
  readonly asker: Asker;
  /** A check of the request's own resource. */
  readonly requestResource: ResourceCheck | undefined;

  constructor(ask: Ask, asker: Asker, request?: ResourceFields) {
    this.ask = ask;
    this.asker = asker;
    this.requestResource = request === undefined ? undefined : new ResourceCheck(this, request);
  }
}

class PathCheck {
  readonly authorizer: CelAuthorizer;
  readonly path: string;

  constructor(authorizer: CelAuthorizer, path: string) {
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck {
  readonly authorizer: CelAuthorizer;
  readonly group: string;

  constructor(authorizer: CelAuthorizer, group: string) {
    this.authorizer = authorizer;
    this.group = group;
  }
}

class ResourceCheck {
  readonly authorizer: CelAuthorizer;
  readonly fields: ResourceFields;

  constructor(authorizer: CelAuthorizer, fields: ResourceFields) {
    this.authorizer = authorizer;
    this.fields = fields;
  }

  with(fields: Partial<ResourceFields>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.fields, ...fields });
  }
}

class Decision {
  readonly answer: AuthorizerAnswer;

  constructor(answer: AuthorizerAnswer) {
    this.answer = answer;
  }
}

/** Kubernetes: cel/library, cost. */
const CHECK_COST = 350_000;
const PREFIX = 'kubernetes.authorization';
export const AUTHORIZER = `${PREFIX}.Authorizer`;
const PATH = `${PREFIX}.PathCheck`;
const GROUP = `${PREFIX}.GroupCheck`;
const RESOURCE = `${PREFIX}.ResourceCheck`;
const DECISION = `${PREFIX}.Decision`;

/** Questions about rights (Kubernetes: cel/library, authz). */
export function registerAuthorizer(environment: Environment): Environment {
  const registered = environment
    .registerType(PATH, PathCheck)
    .registerType(GROUP, GroupCheck)
    .registerType(RESOURCE, ResourceCheck)
    .registerType(DECISION, Decision)
    .registerType(AUTHORIZER, { ctor: CelAuthorizer, fields: { requestResource: RESOURCE } })
    .registerFunction(`${AUTHORIZER}.path(string): ${PATH}`, (authorizer: CelAuthorizer, path: string) => {
      if (path.trim() === '') throw new Error('path must not be empty');
      return new PathCheck(authorizer, path);
    })
    .registerFunction(
      `${AUTHORIZER}.group(string): ${GROUP}`,
      (authorizer: CelAuthorizer, group: string) => new GroupCheck(authorizer, group),
    )
    .registerFunction(`${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`, asServiceAccount)
    .registerFunction(`${GROUP}.resource(string): ${RESOURCE}`, checkOf);
  return registerDecisions(registerResourceChecks(registered));
}

function asServiceAccount({ ask }: CelAuthorizer, namespace: string, name: string): CelAuthorizer {
  if (checkName(name, 'dns-subdomain').length > 0) throw new Error('Invalid service account name');
  if (checkName(namespace, 'dns-label').length > 0) throw new Error('Invalid service account namespace');
  return new CelAuthorizer(ask, { serviceAccount: { namespace, name } });
}

function checkOf({ authorizer, group }: GroupCheck, resource: string): ResourceCheck {
  if (resource.trim() === '') throw new Error('resource must not be empty');
  return new ResourceCheck(authorizer, { group, resource, subresource: '', namespace: '', name: '' });
}

function registerResourceChecks(environment: Environment): Environment {
  const narrowed =
    (field: keyof ResourceFields) =>
    (check: ResourceCheck, value: string): ResourceCheck =>
      check.with({ [field]: value });
  return environment
    .registerFunction(`${RESOURCE}.subresource(string): ${RESOURCE}`, narrowed('subresource'))
    .registerFunction(`${RESOURCE}.namespace(string): ${RESOURCE}`, narrowed('namespace'))
    .registerFunction(`${RESOURCE}.name(string): ${RESOURCE}`, narrowed('name'))
    .registerFunction(`${RESOURCE}.fieldSelector(string): ${RESOURCE}`, narrowed('fieldSelector'))
    .registerFunction(`${RESOURCE}.labelSelector(string): ${RESOURCE}`, narrowed('labelSelector'));
}

function registerDecisions(environment: Environment): Environment {
  const answer = (authorizer: CelAuthorizer, question: Question): Decision => {
    spend(CHECK_COST);
    return new Decision(authorizer.ask({ ...authorizer.asker, ...question }));
  };
  return environment
    .registerFunction(`${PATH}.check(string): ${DECISION}`, ({ authorizer, path }: PathCheck, verb: string) =>
      answer(authorizer, { kind: 'path', verb, path }),
    )
    .registerFunction(
      `${RESOURCE}.check(string): ${DECISION}`,
      ({ authorizer, fields }: ResourceCheck, verb: string) =>
        answer(authorizer, { kind: 'resource', verb, ...fields }),
    )
    .registerFunction(`${DECISION}.allowed(): bool`, ({ answer: { allowed } }: Decision) => allowed)
    .registerFunction(`${DECISION}.reason(): string`, ({ answer: { reason } }: Decision) => reason)
    .registerFunction(`${DECISION}.errored(): bool`, ({ answer: { error } }: Decision) => error !== undefined)
    .registerFunction(`${DECISION}.error(): string`, ({ answer: { error } }: Decision) => error ?? '');
}
