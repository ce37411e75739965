/* comm_mpi.c: the transport of comm.h over MPI. It is built as a module, liblengthen_mpi.so, which the program loads
 * when mpirun or srun started it; it calls nothing of the library. */
#include <mpi.h>

#include "base/comm.h"

static MPI_Request requests[LG__TRANSPORT_REQUESTS];
static unsigned char used[LG__TRANSPORT_REQUESTS];

static int open_job(int *rank, int *size)
{
    int level, there;
    if (MPI_Initialized(&there) ||
        (!there && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level)))
        return -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return MPI_Comm_rank(MPI_COMM_WORLD, rank) || MPI_Comm_size(MPI_COMM_WORLD, size) ? -1 : 0;
}

static int free_place(void)
{
    for (int i = 0; i < LG__TRANSPORT_REQUESTS; i++)
        if (!used[i]) return i;
    return -1;
}

static int send(const void *data, size_t bytes, int to, int tag)
{
    int i = free_place();
    if (i < 0 || bytes > 1u << 30) return -1;
    if (MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[i])) return -1;
    used[i] = 1;
    return i;
}

static int receive(void *data, size_t bytes, int from, int tag)
{
    int i = free_place();
    if (i < 0 || bytes > 1u << 30) return -1;
    if (MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[i])) return -1;
    used[i] = 1;
    return i;
}

static int test(int request)
{
    int done = 0;
    if (MPI_Test(&requests[request], &done, MPI_STATUS_IGNORE)) return -1;
    if (done) used[request] = 0;
    return done;
}

static void cancel(int request)
{
    MPI_Cancel(&requests[request]);
    MPI_Request_free(&requests[request]);
    used[request] = 0;
}

static int probe(int *from, int tag, size_t *bytes)
{
    int there = 0, count = 0;
    MPI_Status status;
    if (MPI_Iprobe(*from < 0 ? MPI_ANY_SOURCE : *from, tag, MPI_COMM_WORLD, &there, &status))
        return -1;
    if (!there) return 0;
    if (MPI_Get_count(&status, MPI_BYTE, &count)) return -1;
    *from = status.MPI_SOURCE;
    *bytes = (size_t)count;
    return 1;
}

static void close_job(void) { MPI_Finalize(); }

static void abort_job(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

const struct lg__transport lg__transport_mpi = {
    LG__TRANSPORT_VERSION, open_job, send, receive, test, cancel, probe, close_job, abort_job};
