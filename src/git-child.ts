/**
 * The process that Git repositories are read in: started by `GitProcess`, never by hand. What is parsed and validated
 * here costs the controller nothing, whatever a repository holds.
 *
 * @module
 */
import { validateObject } from './api/index.ts';
import { runGitChild } from './git/index.ts';
import { ManifestReader, manifestFilter, type ReadingOptions } from './manifests/index.ts';

const reader = new ManifestReader({ validate: validateObject });
runGitChild({ filter: manifestFilter, parse: (snapshot, options) => reader.read(snapshot, options as ReadingOptions) });
