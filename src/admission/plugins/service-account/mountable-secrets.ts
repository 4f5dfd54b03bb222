import type { ApiObject, JsonObject, JsonValue } from '../../../api/object-meta.ts';
import { objectsOf, part, text } from '../../../object/parts.ts';

/** What a pod may not use because its account does not list it: the first thing that is found, as a reason. */
export function forbiddenSecret(account: ApiObject, spec: JsonObject): string | undefined {
  const listed = namesOf(account.secrets);
  return (
    volumeSecret(account, listed, spec) ??
    containerSecret(account, listed, spec.initContainers, 'init container') ??
    containerSecret(account, listed, spec.containers, 'container') ??
    pullSecret(account, spec)
  );
}

export const forbiddenEphemeralSecret = (account: ApiObject, spec: JsonObject): string | undefined =>
  containerSecret(account, namesOf(account.secrets), spec.ephemeralContainers, 'ephemeral container');

const namesOf = (references: JsonValue | undefined): ReadonlySet<string> =>
  new Set(objectsOf(references).map(({ name }) => text(name)));

const notListed = (account: ApiObject, what = 'secret'): string =>
  `is not allowed because service account ${account.metadata.name ?? ''} does not reference that ${what}`;

function volumeSecret(account: ApiObject, listed: ReadonlySet<string>, spec: JsonObject): string | undefined {
  for (const { secret } of objectsOf(spec.volumes)) {
    if (secret === undefined) continue;
    const name = text(part({ secret }, 'secret').secretName);
    if (!listed.has(name)) return `volume with secret.secretName="${name}" ${notListed(account)}`;
  }
  return undefined;
}

function containerSecret(
  account: ApiObject,
  listed: ReadonlySet<string>,
  containers: JsonValue | undefined,
  kind: string,
): string | undefined {
  for (const container of objectsOf(containers)) {
    for (const [from, name] of secretsOf(container)) {
      if (listed.has(name)) continue;
      const which = `${kind} ${text(container.name)} with ${from} referencing secret.secretName="${name}"`;
      return `${which} ${notListed(account)}`;
    }
  }
  return undefined;
}

/** Each with what refers to it. */
function secretsOf({ env, envFrom }: JsonObject): (readonly [from: string, name: string])[] {
  return [
    ...objectsOf(env).flatMap((variable) => {
      const source = part(variable, 'valueFrom');
      if (source.secretKeyRef === undefined) return [];
      return [[`envVar ${text(variable.name)}`, text(part(source, 'secretKeyRef').name)] as const];
    }),
    ...objectsOf(envFrom).flatMap((source) =>
      source.secretRef === undefined ? [] : [['envFrom', text(part(source, 'secretRef').name)] as const],
    ),
  ];
}

function pullSecret(account: ApiObject, spec: JsonObject): string | undefined {
  const listed = namesOf(account.imagePullSecrets);
  const names = objectsOf(spec.imagePullSecrets).map(({ name }) => text(name));
  const at = names.findIndex((name) => !listed.has(name));
  if (at < 0) return undefined;
  return `imagePullSecrets[${at}].name="${names[at]}" ${notListed(account, 'imagePullSecret')}`;
}
