/** In one call of a script, and so what one script does at most: about 5 ms of the server's time. */
export const BATCH_ITEMS = 500;
