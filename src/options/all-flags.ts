import { admissionFlags, podAdmissionFlags, proxyClientFlags } from './admission.ts';
import { agentFlags } from './agents.ts';
import { apiFlags, domainFlags } from './api.ts';
import { auditLogFlags, auditWebhookFlags } from './audit.ts';
import { authenticationFlags, frontProxyFlags, serviceAccountFlags } from './authentication.ts';
import { authorizationFlags } from './authorization.ts';
import { serviceFlags } from './cluster-services.ts';
import { signingFlags } from './cluster-signing.ts';
import type { Flag, FlagSet } from './flag.ts';
import { fairnessFlags, limitsFlags } from './limits.ts';
import { loggingFlags, tracingFlags } from './observability.ts';
import { oidcFlags } from './oidc.ts';
import { processFlags } from './process.ts';
import {
  consoleFlags,
  electionFlags,
  lifecycleFlags,
  listenerFlags,
  logPageFlags,
  peerFlags,
  profilingFlags,
  threadFlags,
} from './serving.ts';
import { ownFlags, storageFlags } from './storage.ts';
import { tlsFlags } from './tls.ts';
import { namespaceFlags, writingFlags } from './writing.ts';

export interface Section {
  readonly heading: string;
  readonly flags: readonly Flag[];
}

const section = (heading: string, ...sets: readonly FlagSet[]): Section => ({
  heading,
  flags: sets.flatMap((set) => Object.values(set)),
});

/** In the order of --help. */
export const SECTIONS: readonly Section[] = [
  section('pg-apiserver', ownFlags, domainFlags, threadFlags, namespaceFlags, consoleFlags, processFlags),
  section(
    'Serving',
    listenerFlags,
    serviceFlags,
    profilingFlags,
    logPageFlags,
    lifecycleFlags,
    peerFlags,
    electionFlags,
    writingFlags,
    podAdmissionFlags,
    fairnessFlags,
    tracingFlags,
  ),
  section('Storage', storageFlags),
  section('TLS', tlsFlags),
  section('Authentication', authenticationFlags),
  section('OpenID Connect', oidcFlags),
  section('Front proxy', frontProxyFlags, proxyClientFlags),
  section('Service account tokens', serviceAccountFlags),
  section('Certificate signing', signingFlags),
  section('Authorization', authorizationFlags),
  section('Admission', admissionFlags),
  section('API', apiFlags),
  section('Audit log', auditLogFlags),
  section('Audit webhook', auditWebhookFlags),
  section('Limits', limitsFlags),
  section('Node agents', agentFlags),
  section('Logging and metrics', loggingFlags),
];

export const ALL_FLAGS: readonly Flag[] = SECTIONS.flatMap(({ flags }) => flags);
