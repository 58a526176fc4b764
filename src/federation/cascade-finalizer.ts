/** On every hub object whose deletion has something to clean up first. */
export const CASCADE_FINALIZER = 'federation.atoll.dev/cascade';
