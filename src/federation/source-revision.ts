/** On hub objects that come from Git: the commit that last changed them. */
export const SOURCE_REVISION_ANNOTATION = 'atoll.dev/source-revision';
