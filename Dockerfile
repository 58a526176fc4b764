# The controller and the `atoll` command:
#
#   docker build --tag atoll .
#   docker run atoll                                    a replica
#   docker run atoll dist/cli/main.js join …            the command

FROM node:24-slim AS build
WORKDIR /atoll
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /atoll
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /atoll
COPY package.json LICENSE ./
COPY --from=dependencies /atoll/node_modules ./node_modules
COPY --from=build /atoll/dist ./dist
# The user "node" of the base image, by number: a pod that must not run as root needs one.
USER 1000:1000
EXPOSE 8080
ENTRYPOINT ["node", "--enable-source-maps"]
CMD ["dist/main.js"]
