import type { AskPlugin } from '../../admission/plugin.ts';
import { WEBHOOK_RULES } from '../../authz/webhook-authorizer.ts';
import { ConnectionShares } from '../../http/connection-shares.ts';
import type { LogControl } from '../../observability/logger.ts';
import type { ServerOptions } from '../../options/options.ts';
import { createPages, toPageHandler } from '../../pages/pages.ts';
import { errorForms } from '../../storage/error-forms.ts';
import { errorText } from '../../util/error-text.ts';
import { NEVER } from '../../util/pause.ts';
import { PortCalls } from '../../util/port-calls.ts';
import { createAggregation } from '../aggregation.ts';
import { createThreadAuditor } from '../audit.ts';
import type { WebhookOf } from '../authorization.ts';
import type { Egress } from '../egress.ts';
import { createThreadFlowControl } from '../flow-control.ts';
import { createFoundation } from '../foundation.ts';
import { Front } from '../front.ts';
import { Phases } from '../phase.ts';
import { createPolicy } from '../policy.ts';
import type { Services } from '../services.ts';
import { createThreadServing } from '../serving.ts';
import { createWriting } from '../writing.ts';
import { RemoteFlowControl } from './remote-flow-control.ts';
import type { ServerService, ThreadHearing, ThreadStart } from './thread-contract.ts';
import { answerPage } from './thread-pages.ts';
import { createThreadStorage } from './thread-storage.ts';

/** The main thread checks. */
const NO_CHECKS = { kubernetes: [], own: [] };

interface ThreadEnvironment extends Omit<ThreadStart, 'args'> {
  readonly options: ServerOptions;
  readonly egress: Egress;
  readonly logger: LogControl;
}

/** Returns what the first essential service that does not work says. */
async function troubleOf(services: Services): Promise<string> {
  for (const { name, check } of services.checks())
    try {
      await check();
    } catch (error) {
      return `${name}: ${errorText(error)}`;
    }
  return '';
}

/** Ends the thread when one of its services cannot go on: the main thread starts another one. */
function endWith(services: Services): void {
  services.failed.catch((error: unknown) => {
    setImmediate(() => {
      throw error;
    });
  });
}

/** The webhooks of authorization, which the main thread asks. */
const webhooksOf =
  (server: PortCalls<ThreadHearing, ServerService>): WebhookOf =>
  (config) => ({
    // Requests have much more than what an authorizer is asked, sockets included.
    authorize: ({ user, verb, target, path, selectors, signal }) => {
      const attributes = { user, verb, target, path, ...(selectors === undefined ? {} : { selectors }) };
      return server.call('verdict', { config, attributes }, signal);
    },
    rules: () => WEBHOOK_RULES,
  });

/** The composition of a serving thread: the phases that a request passes. Resolves when it serves. */
export async function startServingThread(environment: ThreadEnvironment): Promise<void> {
  const { options, egress, logger, databases } = environment;
  const shares = new ConnectionShares(environment.connectionMemory, environment.number - 1);
  const front = await Front.prepare({ ...environment, shares, isThread: true, checks: NO_CHECKS });
  const foundation = createFoundation({ options, logger, egress, stop: NEVER }, front);
  const phases = new Phases();
  const profiles = toPageHandler(createPages().route('/', front.profiles));
  const answers: ThreadHearing = {
    families: () => front.metrics.families(),
    trouble: () => troubleOf(foundation.services),
    setVerbosity: (level) => logger.setVerbosity(level),
    configureFlow: (configuration) => flow.hear(configuration),
    remoteDocuments: (states) => aggregation.remoteApis.take(states),
    running: (asked) => flow.running(asked),
    page: (asked, caller) => answerPage(profiles, asked, caller),
    drain: async (plan) => {
      await front.drain(plan);
      await phases.end();
    },
  };
  const server = new PortCalls<ThreadHearing, ServerService>({
    ...{ port: environment.server, answers, errors: errorForms },
    onError: (error) => logger.error('the main thread', error),
  });
  const remote = new RemoteFlowControl(server);
  const flow = createThreadFlowControl(options.limits, {
    ...{ ...foundation, memory: environment.flowMemory, row: environment.number },
    countObjects: (resource) => storage.countObjects(resource),
    elsewhere: {
      begin: (request) => remote.begin(request),
      counts: ({ group, version, resource }) => {
        const served = foundation.registry.find(group, version, resource);
        return served !== undefined && storage.isRead(served.definition.storage);
      },
    },
    onFreed: (slot) => server.tell('seatsFreed', slot),
  });
  endWith(foundation.services);
  const storage = await phases.begin(
    createThreadStorage(foundation, { databases, server, options: options.storage }),
  );
  const asked = { store: storage.store, webhookElsewhere: webhooksOf(server) };
  const policy = await phases.begin(await createPolicy(foundation, asked, options.authorization));
  const askElsewhere: AskPlugin = (part, argument, signal) =>
    server.call('askPlugin', { part, argument }, signal);
  const writing = await phases.begin(createWriting(foundation, { storage, policy, askElsewhere }, options));
  const elsewhere = { documents: () => server.call('remoteDocuments', undefined) };
  const aggregation = await phases.begin(
    createAggregation(foundation, { storage, writing, elsewhere }, options),
  );
  const auditor = await createThreadAuditor(options.audit, foundation, (records) =>
    server.call('audit', records),
  );
  const { flowControl } = flow;
  const built = { front, storage, policy, writing, aggregation, auditor };
  await phases.begin(
    createThreadServing(foundation, { ...environment, ...built, flowControl, server, profiles }),
  );
  server.tell('serves', undefined);
}
