import type { Container, EphemeralContainer, PodSpec, ServiceAccount } from '../../../api/types/core/v1.ts';

/** What a pod may not use because its account does not list it: the first thing that is found, as a reason. */
export function forbiddenSecret(account: ServiceAccount, spec: PodSpec): string | undefined {
  const listed = namesOf(account.secrets);
  return (
    volumeSecret(account, listed, spec) ??
    containerSecret(account, listed, spec.initContainers, 'init container') ??
    containerSecret(account, listed, spec.containers, 'container') ??
    pullSecret(account, spec)
  );
}

export const forbiddenEphemeralSecret = (account: ServiceAccount, spec: PodSpec): string | undefined =>
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

/** Each with what refers to it. */
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
