import { lookup } from 'node:dns/promises';
import type { ServerOptions } from '../options/options.ts';
import { AgentCredentials, NodeTransport } from '../proxy/node-transport.ts';
import type { Backends } from '../verbs/context.ts';

const CREDENTIAL_FLAGS = '--agent-certificate-authority, --agent-client-certificate, --agent-client-key';

/** The ways to node agents, pods and services, from the --agent flags. @throws Error for files that cannot be read */
export function createBackends(options: ServerOptions): Backends {
  const credentials = readCredentials(options);
  return {
    transport: new NodeTransport({ credentials, timeoutMs: options.agentTimeoutMs }),
    translateCommands: options.featureGates.isEnabled('TranslateStreamCloseWebsocketRequests'),
    tunnelPorts: options.featureGates.isEnabled('PortForwardWebsockets'),
    agentAddressTypes: options.agentPreferredAddressTypes,
    resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  };
}

function readCredentials(options: ServerOptions): AgentCredentials {
  try {
    return new AgentCredentials({
      caFile: options.agentCertificateAuthority,
      certFile: options.agentClientCertificate,
      keyFile: options.agentClientKey,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${CREDENTIAL_FLAGS}: ${why}`, { cause: error });
  }
}
