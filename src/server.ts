import { createAggregation } from './server/aggregation.ts';
import { createAuditing } from './server/audit.ts';
import { createControllers } from './server/controllers.ts';
import { type Databases, openDatabases } from './server/databases.ts';
import { createFoundation, type ServerEnvironment } from './server/foundation.ts';
import { Front } from './server/front.ts';
import { createBaseChecks } from './server/health-checks.ts';
import { Phases } from './server/phase.ts';
import { createPolicy } from './server/policy.ts';
import { createServing } from './server/serving.ts';
import { createStorage } from './server/storage.ts';
import { createWriting } from './server/writing.ts';
import { unlessAborted } from './util/pause.ts';

export interface RunningServer {
  readonly port: number;
  /** Rejects when the server cannot serve correctly any more and must be closed. The message has one line. */
  readonly failed: Promise<never>;
  /** Ends in order: requests, controllers, feed, database. */
  close(): Promise<void>;
}

/**
 * The composition root. The front comes first, so that probes are answered while the rest starts.
 * Resolves when the server is ready. @throws Error when it cannot become so
 */
export async function startServer(environment: ServerEnvironment): Promise<RunningServer> {
  const { options, logger, databaseUrls: urls, encryption, egress } = environment;
  const databases = openDatabases(options.storage, {
    threads: options.serving.threads,
    ...{ urls, logger, encryption },
    reroute: egress.reroute,
  });
  const checks = createBaseChecks(databases.main.log, logger, options.storage, databases.others);
  const front = await Front.open({ ...environment, checks });
  try {
    const known = withPort(environment, front.port);
    return await unlessAborted(() => startBehind(front, databases, known), environment.stop);
  } catch (error) {
    await front.abandon();
    throw error;
  }
}

/** The port that was opened, which 0 left open: the cluster knows servers by it. */
const withPort = (environment: ServerEnvironment, securePort: number): ServerEnvironment => {
  const { options } = environment;
  return { ...environment, options: { ...options, serving: { ...options.serving, securePort } } };
};

/** Each phase builds on the earlier ones, begins when they are ready, and ends before they do. */
async function startBehind(
  front: Front,
  databases: Databases,
  environment: ServerEnvironment,
): Promise<RunningServer> {
  const { options, encryption } = environment;
  const foundation = createFoundation(environment, front);
  const auditing = await createAuditing(options.audit, foundation);
  const auditor = auditing?.auditor;
  const phases = new Phases();
  const storage = await phases.begin(
    createStorage(foundation, databases, {
      ...{ ...options.storage, encryption },
      threads: options.serving.threads,
    }),
  );
  const policy = await phases.begin(await createPolicy(foundation, storage, options.authorization));
  const writing = await phases.begin(createWriting(foundation, { storage, policy }, options));
  const { servingCa, signing } = environment;
  const { authorizer } = policy;
  const aggregation = await phases.begin(createAggregation(foundation, { storage, writing }, options));
  const written = { storage, writing, aggregation, authorizer, servingCa, signing, options };
  await phases.begin(createControllers(foundation, written));
  const built = { front, storage, policy, writing, aggregation, auditing, auditor };
  await phases.begin(createServing(foundation, { ...environment, ...built }));
  return {
    port: front.port,
    failed: foundation.services.failed,
    close: async () => {
      await phases.end();
      await auditor?.close();
    },
  };
}
