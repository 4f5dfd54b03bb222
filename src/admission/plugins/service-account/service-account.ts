import type { Pod, PodSpec, ServiceAccount } from '../../../api/types/core/v1.ts';
import { parseGoBool } from '../../../object/go-value.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import type { ClusterObjects } from '../../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import { PODS } from '../../resources.ts';
import { isWriteOf } from '../../write-of.ts';
import { isMirrorPod, specOf } from '../written-pod.ts';
import { AccountLookup, DEFAULT_ACCOUNT, type Waiting } from './account-lookup.ts';
import { refuseMirrorPod } from './mirror-pods.ts';
import { forbiddenEphemeralSecret, forbiddenSecret } from './mountable-secrets.ts';
import { mountToken } from './token-volume.ts';

const ENFORCED = 'kubernetes.io/enforce-mountable-secrets';

/**
 * Every pod runs as a service account of its namespace, which must be there; it gets that account's token and pull secrets
 * where it does not say otherwise (Kubernetes: plugin/pkg/admission/serviceaccount).
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
  // The same under its first name.
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

/** At once where the account is at hand, as it nearly always is. */
function withAccount(
  lookup: AccountLookup,
  attributes: AdmissionAttributes,
  name: string,
  use: (account: ServiceAccount) => void,
): Promise<void> | undefined {
  const { namespace } = attributes;
  const known = lookup.known(namespace, name);
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
  // The pod's wish goes before the account's.
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
