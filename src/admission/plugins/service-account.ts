import { PODS, SERVICE_ACCOUNTS } from '../../api/known-resources.ts';
import type {
  Container,
  EphemeralContainer,
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  ServiceAccount,
} from '../../api/types/core/v1.ts';
import { parseGoBool } from '../../object/go-value.ts';
import { generateName } from '../../object/metadata.ts';
import { podSecretNames } from '../../object/pod-spec.ts';
import { pause } from '../../util/pause.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';
import { isMirrorPod, specOf } from './pod-specs.ts';

const ENFORCED = 'kubernetes.io/enforce-mountable-secrets';

/**
 * Makes every pod run as an existing service account of its namespace, and gives it the account's token and pull secrets unless
 * the pod says otherwise (Kubernetes: plugin/pkg/admission/serviceaccount).
 */
export function createServiceAccounts(objects: ClusterObjects, waiting?: Waiting): AdmissionPlugin {
  const lookup = new AccountLookup(objects, waiting);
  return {
    name: 'ServiceAccount',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      const pod = lookedAt(attributes);
      return pod === undefined || attributes.operation !== 'CREATE'
        ? undefined
        : fill(lookup, attributes, pod);
    },
    validate: (attributes) => {
      const pod = lookedAt(attributes);
      return pod === undefined ? undefined : check(lookup, attributes, pod);
    },
  };
}

type Outcome = Promise<void> | undefined;

function fill(lookup: AccountLookup, attributes: AdmissionAttributes, pod: Pod): Outcome {
  if (isMirrorPod(pod)) {
    refuseMirrorPod(attributes, pod);
    return undefined;
  }
  const spec = specOf(pod);
  const name = spec.serviceAccountName || DEFAULT_ACCOUNT;
  spec.serviceAccountName = name;
  // The deprecated name of the same field.
  spec.serviceAccount = name;
  return withAccount(lookup, attributes, name, (account) => {
    complete(spec, account);
    refuseSecrets(attributes, account, spec);
  });
}

function check(lookup: AccountLookup, attributes: AdmissionAttributes, pod: Pod): Outcome {
  if (attributes.operation === 'CREATE' && isMirrorPod(pod)) {
    refuseMirrorPod(attributes, pod);
    return undefined;
  }
  const spec = specOf(pod);
  const { serviceAccountName: name = '' } = spec;
  if (name === '') throw refusal(attributes, `no service account specified for pod ${pathOf(attributes)}`);
  return withAccount(lookup, attributes, name, (account) => refuseSecrets(attributes, account, spec));
}

const pathOf = ({ namespace, object }: AdmissionAttributes): string =>
  `${namespace}/${object?.metadata.name ?? ''}`;

/** New pods, and those that get ephemeral containers. */
function lookedAt(attributes: AdmissionAttributes): Pod | undefined {
  const subresource = attributes.operation === 'CREATE' ? '' : 'ephemeralcontainers';
  return isWriteOf(attributes, PODS, subresource) ? attributes.object : undefined;
}

/** No promise when the account is in the cache, as it nearly always is. */
function withAccount(
  lookup: AccountLookup,
  attributes: AdmissionAttributes,
  name: string,
  use: (account: ServiceAccount) => void,
): Promise<void> | undefined {
  const { namespace, foreseen } = attributes;
  const known = lookup.known(namespace, name) ?? foreseen?.find(SERVICE_ACCOUNTS, namespace, name);
  if (known !== undefined) {
    use(known);
    return undefined;
  }
  return lookup.seek(namespace, name).then((found) => {
    if (found !== undefined) return use(found);
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw refusal(attributes, why);
  });
}

function complete(spec: PodSpec, account: ServiceAccount): void {
  // The pod's field wins over the account's.
  const mounts = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  if (mounts) mountToken(spec);
  const { imagePullSecrets: pullSecrets = [] } = account;
  if (pullSecrets.length > 0 && !spec.imagePullSecrets?.length)
    spec.imagePullSecrets = pullSecrets.map(({ name }) => (name === undefined ? {} : { name }));
}

function refuseSecrets(attributes: AdmissionAttributes, account: ServiceAccount, spec: PodSpec): void {
  if (parseGoBool(account.metadata.annotations?.[ENFORCED] ?? '') !== true) return;
  const isNew = attributes.operation === 'CREATE';
  const why = isNew ? forbiddenSecret(account, spec) : forbiddenEphemeralSecret(account, spec);
  if (why !== undefined) throw refusal(attributes, why);
}

export const serviceAccounts = describePlugin({
  name: 'ServiceAccount',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createServiceAccounts(objects),
});

/** Mirror pods must not use accounts and secrets, because the kubelet makes them itself. @throws StatusError 403 */
function refuseMirrorPod(attributes: AdmissionAttributes, { spec = {} }: Pod): void {
  if (spec.serviceAccountName) throw refusal(attributes, 'a mirror pod may not reference service accounts');
  if (podSecretNames(spec).length > 0) throw refusal(attributes, 'a mirror pod may not reference secrets');
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
    throw refusal(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** An hour, and 7 seconds that mark tokens made for a volume instead of on request. */
const EXPIRATION_SECONDS = 3607;
const MODE = 0o644;

/** Mounts the token, the authority's certificate and the namespace in every container that has no mount at the path. */
function mountToken(spec: PodSpec): void {
  const lacking = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(lacksMount);
  if (lacking.length === 0) return;
  const volumes = spec.volumes ?? [];
  const given = volumes.map(({ name = '' }) => name).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = given ?? generateName(VOLUME_PREFIX);
  for (const container of lacking) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
    container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  }
  if (given === undefined) spec.volumes = [...volumes, { name, projected: tokenSources() }];
}

const lacksMount = ({ volumeMounts = [] }: Container): boolean =>
  !volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH);

const tokenSources = (): ProjectedVolumeSource => ({
  defaultMode: MODE,
  sources: [
    { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
});

/** The first secret that a pod uses and its account does not list, as a reason. */
function forbiddenSecret(account: ServiceAccount, spec: PodSpec): string | undefined {
  const listed = namesOf(account.secrets);
  return (
    volumeSecret(account, listed, spec) ??
    containerSecret(account, listed, spec.initContainers, 'init container') ??
    containerSecret(account, listed, spec.containers, 'container') ??
    pullSecret(account, spec)
  );
}

const forbiddenEphemeralSecret = (account: ServiceAccount, spec: PodSpec): string | undefined =>
  containerSecret(account, namesOf(account.secrets), spec.ephemeralContainers, 'ephemeral container');

const namesOf = (references: readonly { readonly name?: string }[] = []): ReadonlySet<string> =>
  new Set(references.map(({ name = '' }) => name));

const notListed = (account: ServiceAccount, what = 'secret'): string =>
  `is not allowed because service account ${account.metadata.name ?? ''} does not reference that ${what}`;

function volumeSecret(
  account: ServiceAccount,
  listed: ReadonlySet<string>,
  { volumes }: PodSpec,
): string | undefined {
  for (const { secret } of volumes ?? []) {
    if (secret === undefined) continue;
    const { secretName: name = '' } = secret;
    if (!listed.has(name)) return `volume with secret.secretName="${name}" ${notListed(account)}`;
  }
  return undefined;
}

type SomeContainer = Container | EphemeralContainer;

function containerSecret(
  account: ServiceAccount,
  listed: ReadonlySet<string>,
  containers: readonly SomeContainer[] | null | undefined,
  kind: string,
): string | undefined {
  for (const container of containers ?? []) {
    for (const [from, name] of secretsOf(container)) {
      if (listed.has(name)) continue;
      const which = `${kind} ${container.name ?? ''} with ${from} referencing secret.secretName="${name}"`;
      return `${which} ${notListed(account)}`;
    }
  }
  return undefined;
}

/** Each secret with the field that refers to it. */
function secretsOf({ env, envFrom }: SomeContainer): (readonly [from: string, name: string])[] {
  return [
    ...(env ?? []).flatMap(({ name = '', valueFrom }) => {
      const reference = valueFrom?.secretKeyRef;
      return reference === undefined ? [] : [[`envVar ${name}`, reference.name ?? ''] as const];
    }),
    ...(envFrom ?? []).flatMap(({ secretRef }) =>
      secretRef === undefined ? [] : [['envFrom', secretRef.name ?? ''] as const],
    ),
  ];
}

function pullSecret(account: ServiceAccount, { imagePullSecrets }: PodSpec): string | undefined {
  const listed = namesOf(account.imagePullSecrets);
  const names = (imagePullSecrets ?? []).map(({ name = '' }) => name);
  const at = names.findIndex((name) => !listed.has(name));
  if (at < 0) return undefined;
  return `imagePullSecrets[${at}].name="${names[at]}" ${notListed(account, 'imagePullSecret')}`;
}

/** The account of pods that name none. Every namespace gets it soon after its creation. */
const DEFAULT_ACCOUNT = 'default';
const ATTEMPTS_FOR_DEFAULT = 10;

/** The clock of a lookup; tests use a faster one. */
interface Waiting {
  pause(ms: number): Promise<void>;
}

const IN_TIME: Waiting = { pause };
/** How often the cache is checked while waiting: a check is cheap, and most accounts arrive quickly. */
const LOOK_MS = 10;

/** Finds service accounts, also in new namespaces, whose account is still being created. */
class AccountLookup {
  readonly #objects: ClusterObjects;
  readonly #accounts: FollowedObjects<ServiceAccount>;
  readonly #waiting: Waiting;

  constructor(objects: ClusterObjects, waiting: Waiting = IN_TIME) {
    this.#objects = objects;
    this.#accounts = objects.follow(SERVICE_ACCOUNTS);
    this.#waiting = waiting;
  }

  known(namespace: string, name: string): ServiceAccount | undefined {
    return this.#accounts.get(namespace, name);
  }

  /** Asks the store once; waits for the default account as long as Kubernetes does: nine pauses of 100 to 200 ms. */
  async seek(namespace: string, name: string): Promise<ServiceAccount | undefined> {
    const attempts = name === DEFAULT_ACCOUNT ? ATTEMPTS_FOR_DEFAULT : 1;
    const intervalMs = 100 + Math.floor(Math.random() * 100);
    for (let attempt = 1; ; attempt += 1) {
      const account = await this.#objects.find(SERVICE_ACCOUNTS, namespace, name);
      if (account !== undefined || attempt === attempts) return account;
      const appeared = await this.#appears(namespace, name, intervalMs);
      if (appeared !== undefined) return appeared;
    }
  }

  async #appears(namespace: string, name: string, withinMs: number): Promise<ServiceAccount | undefined> {
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
      await this.#waiting.pause(LOOK_MS);
      const account = this.known(namespace, name);
      if (account !== undefined) return account;
    }
    return undefined;
  }
}
