import { isAbsolute } from 'node:path';
import type { JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { asObject, checkFields } from '../../object/config-fields.ts';
import { text } from '../../object/parts.ts';
import { type ClientUsers, readClientUsers } from '../../outbound/client-config.ts';

/** Kinds by version; clusters write their own domain. */
const KINDS: Readonly<Record<string, string>> = Object.fromEntries(
  ['k8s.io', 'cluster.io'].flatMap((domain) => [
    [`apiserver.config.${domain}/v1`, 'WebhookAdmissionConfiguration'],
    [`apiserver.config.${domain}/v1alpha1`, 'WebhookAdmission'],
  ]),
);

/**
 * The plugins' configuration, whose only field is the path of a client configuration file with the users that webhooks are
 * called as. @throws Error
 */
export function readWebhookConfig(config: JsonValue | undefined): ClientUsers | undefined {
  if (config === undefined) return undefined;
  const object = asObject(config);
  const { kind, apiVersion, kubeConfigFile } = object;
  if (kind === undefined || KINDS[text(apiVersion)] !== kind)
    throw new Error(
      `no kind ${JSON.stringify(text(kind))} is registered for version ${JSON.stringify(text(apiVersion))}`,
    );
  const problems: FieldError[] = [];
  checkFields(object, ['kind', 'apiVersion', 'kubeConfigFile'], '', problems);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`${problem.field}: ${problem.message}`);
  const path = text(kubeConfigFile);
  if (!isAbsolute(path))
    throw new Error(`kubeConfigFile: Invalid value: ${JSON.stringify(path)}: must be an absolute file path`);
  return readClientUsers(path);
}
