import { lookup } from 'node:dns/promises';
import { type AgentOptions, agentFlags } from '../options/agents.ts';
import { AgentCredentials, NodeTransport } from '../proxy/node-transport.ts';
import { errorText } from '../util/error-text.ts';
import type { Backends } from '../verbs/verb-call.ts';
import type { Foundation } from './foundation.ts';

/** The ways to node agents, pods and services. @throws Error for files that cannot be read */
export function createBackends(
  options: AgentOptions,
  { isFeatureOn, egress }: Pick<Foundation, 'isFeatureOn' | 'egress'>,
  sandboxesPages: boolean,
): Backends {
  const credentials = readCredentials(options);
  return {
    transport: new NodeTransport({ credentials, timeoutMs: options.timeoutMs, dial: egress.dials.cluster }),
    sandboxesPages,
    translateCommands: isFeatureOn('TranslateStreamCloseWebsocketRequests'),
    tunnelPorts: isFeatureOn('PortForwardWebsockets'),
    extendsWebSockets: isFeatureOn('ExtendWebSocketsToAgent'),
    streamsNeedCreate: isFeatureOn('AuthorizePodWebsocketUpgradeCreatePermission'),
    splitsLogs: isFeatureOn('PodLogsQuerySplitStreams'),
    resolvesAfar: egress.dials.cluster !== undefined,
    agentAddressTypes: options.addressTypes,
    resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  };
}

function readCredentials({ caFile, certFile, keyFile }: AgentOptions): AgentCredentials {
  try {
    return new AgentCredentials({ caFile, certFile, keyFile });
  } catch (error) {
    const why = errorText(error);
    const flags = [agentFlags.caFile, agentFlags.certFile, agentFlags.keyFile].map(({ shown }) => shown);
    throw new Error(`${flags.join(', ')}: ${why}`, { cause: error });
  }
}
