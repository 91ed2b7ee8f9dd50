/** Owns telling an outage of our own servers from a fault of the message or request at hand. */

const documentErrors =
  /^(Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|NotConnected|TopologyClosed|WaitQueueTimeout)|PoolClearedOnNetwork)Error$/;
const streamErrors =
  /^((Timeout|Connection|ClosedConnection|DrainingConnection|Request)Error|NoResponders|JetStreamNotEnabled)$/;

/**
 * Which of our servers is away; undefined when the error says no such thing. By name, since the drivers' classes come in
 * several copies.
 */
export const outageOf = (error: unknown): "documents" | "streams" | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (documentErrors.test(error.name)) return "documents";
  return streamErrors.test(error.name) ? "streams" : undefined;
};
