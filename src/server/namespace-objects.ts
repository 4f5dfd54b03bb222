import { SYSTEM_NAMESPACES } from '../controllers/bootstrap-objects.ts';
import { EveryNamespace } from '../controllers/every-namespace.ts';
import { CA_MANAGER, DEFAULT_ACCOUNT, rootCertificate } from '../controllers/namespace-deletion.ts';
import type { Logger } from '../observability/logger.ts';
import { runTogether } from '../util/concurrency.ts';
import type { Client } from '../verbs/client/client.ts';

interface NamespaceObjects {
  /** Resolves when the objects exist in the cluster's own namespaces. */
  begin(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

/** A service account and the certificate of the authority, in every namespace. */
export function createNamespaceObjects(parts: {
  readonly client: Client;
  readonly logger: Logger;
  /** Authority of the serving certificate, in PEM form. */
  readonly servingCa: string;
}): NamespaceObjects {
  const { logger, servingCa, ...rest } = parts;
  const onError = (error: unknown): void => logger.error('namespace objects', error);
  const all = [
    new EveryNamespace({ ...rest, object: DEFAULT_ACCOUNT, manager: 'service-account-controller', onError }),
    new EveryNamespace({ ...rest, object: rootCertificate(servingCa), manager: CA_MANAGER, onError }),
  ];
  return {
    begin: async () => {
      const tasks = all.flatMap((one) => SYSTEM_NAMESPACES.map((name) => one.ensure(name).catch(onError)));
      await Promise.all(tasks);
    },
    run: (signal) =>
      runTogether(
        all.map((one) => (either: AbortSignal) => one.run(either)),
        signal,
      ),
  };
}
